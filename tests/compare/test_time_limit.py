"""The time limit, with and without signals."""

import signal
import threading
import time

import pytest

from immax.compare.time_limit import has_time_for, interrupt_at


def test_further_folds_are_expected_to_take_as_long_as_the_others():
    start = time.monotonic() - 10  # ten folds, a second each
    assert has_time_for(5, 10, start, None)
    assert has_time_for(5, 10, start, start + 17)
    assert not has_time_for(5, 10, start, start + 14)


def test_no_limit():
    with interrupt_at(None):
        pass


def test_a_block_is_interrupted_and_the_handler_is_restored():
    before = signal.getsignal(signal.SIGALRM)
    start = time.monotonic()
    with pytest.raises(TimeoutError), interrupt_at(start + 0.2):
        time.sleep(60)
    assert time.monotonic() - start < 30
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_block_that_is_in_time_is_not_interrupted_later():
    with interrupt_at(time.monotonic() + 0.3):
        pass
    time.sleep(0.5)


def test_a_deadline_in_the_past_does_not_enter_the_block():
    entered = False
    with pytest.raises(TimeoutError), interrupt_at(time.monotonic() - 1):
        entered = True
    assert not entered


def in_a_thread(run):
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(run()))
    thread.start()
    thread.join()
    return outcome[0]


def slow(deadline):
    with interrupt_at(deadline):
        time.sleep(0.3)
    return "finished"


def test_other_threads_finish_what_they_have_begun():
    assert in_a_thread(lambda: slow(time.monotonic() + 0.1)) == "finished"


def test_systems_without_alarms_finish_what_they_have_begun(monkeypatch):
    monkeypatch.delattr(signal, "SIGALRM")
    assert slow(time.monotonic() + 0.1) == "finished"
    with pytest.raises(TimeoutError):
        slow(time.monotonic() - 1)
