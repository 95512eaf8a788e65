"""Addresses and counters of compiled threads."""

import threading

import numpy as np
import pytest

pytest.importorskip("numba")

from numba import carray

from immax.compiled.compiler import jit
from immax.compiled.shared_memory import fetch_add, pointer


@jit()
def _count(address, times):
    for _ in range(times):
        fetch_add(address)


@jit()
def _second(address):
    return carray(pointer(address), 2, np.float64)[1]


def test_no_count_is_lost():
    counter = np.zeros(1, np.int64)
    _count(counter.ctypes.data, 0)  # compile
    threads = [
        threading.Thread(target=_count, args=(counter.ctypes.data, 200_000)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter[0] == 800_000


def test_memory_is_read_by_its_address():
    values = np.array([1.0, 2.5])
    assert _second(values.ctypes.data) == 2.5
