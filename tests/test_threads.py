"""Work shared by threads."""

import time

import pytest

from immax.threads import available_cores, in_threads


def test_results_come_in_order():
    def work(number, pause):
        time.sleep(pause)
        return number

    parts = [(number, 0.01 * (number % 3)) for number in range(12)]
    assert in_threads(work, parts) == list(range(12))


def test_an_error_is_raised_in_the_calling_thread():
    def work(number):
        return 1 / number

    with pytest.raises(ZeroDivisionError):
        in_threads(work, [(1,), (0,), (2,)])


def test_cores():
    assert 1 <= available_cores() <= 8
