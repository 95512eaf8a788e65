"""The threads of PyTorch's own operations, for compiled code.

PyTorch's builds for Linux run their operations by OpenMP, whose threads wait for the next piece of
work and begin it within a few microseconds: a hundredth of the time that threads of Python need.
Code that runs on them competes with no second pool for the cores, and
``torch.set_num_threads`` holds for it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch import _C

from immax.threads import in_threads

__all__ = ["has_openmp", "n_threads", "run_together"]

ENTRIES_PER_THREAD = 2**12  # logits that are worth a thread of OpenMP
ENTRIES_PER_PYTHON_THREAD = 2**17


class _Process:
    """Whether this process is the fork of another, whose threads did not survive."""

    is_fork = False


def _note_fork() -> None:
    _Process.is_fork = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


@lru_cache
def _parallel_region() -> Callable[..., None] | None:
    """Return the function of PyTorch's OpenMP runtime that runs another one in many threads."""
    try:
        # A symbol is looked up in the libraries that PyTorch is linked with.
        region = ctypes.CDLL(_C.__file__).GOMP_parallel
    except (AttributeError, OSError):  # another system, or another runtime
        return None
    region.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
    region.restype = None
    return region


def has_openmp() -> bool:
    """Return whether compiled code can run on PyTorch's threads.

    Returns
    -------
    bool
        False where PyTorch does not use OpenMP, and in the fork of a process, where its threads
        do not exist, and waiting for them would never end.
    """
    return not _Process.is_fork and _parallel_region() is not None


def n_threads(n_entries: int, entries_each: int) -> int:
    """Return the number of threads that are worth starting.

    Parameters
    ----------
    n_entries : int
        The number of logits.
    entries_each : int
        The least number for a thread.

    Returns
    -------
    int
        At least one, and no more than PyTorch uses.
    """
    return max(1, min(torch.get_num_threads(), n_entries // entries_each))


def run_together(worker: Any, job: ctypes.Structure, n_entries: int) -> None:
    """Call a C function in several threads at once, or in one if there is little to do.

    Any number of Python's threads may do so at the same time.

    Parameters
    ----------
    worker : object
        See ``immax.compiled.compiler.c_function``. A call must do all the work that other calls
        have not begun, since OpenMP may give fewer threads than it is asked for.
    job : ctypes.Structure
        The worker gets its address.
    n_entries : int
        The number of logits.
    """
    address = ctypes.addressof(job)
    region = _parallel_region() if has_openmp() else None
    if region is None:
        threads = n_threads(n_entries, ENTRIES_PER_PYTHON_THREAD)
        in_threads(worker.ctypes, [(address,)] * threads)
        return
    threads = n_threads(n_entries, ENTRIES_PER_THREAD)
    if threads == 1:
        worker.ctypes(address)
    else:
        region(worker.address, address, threads, 0)
