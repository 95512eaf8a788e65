"""The number of cores to use, and a pool of threads that uses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar, TypeVarTuple

__all__ = ["available_cores", "in_row_threads", "in_threads"]

MOST_CORES = 8  # beyond this, memory bandwidth is the limit

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


def available_cores() -> int:
    """Return the number of cores that this process may run on, at most eight.

    Returns
    -------
    int
    """
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MOST_CORES)
    return min(os.cpu_count() or 1, MOST_CORES)


@lru_cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(available_cores() - 1, 1), thread_name_prefix="immax")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def in_threads(work: Callable[[*Arguments], T], parts: Sequence[tuple[*Arguments]]) -> list[T]:
    """Return ``[work(*part) for part in parts]``, computed by the pool and the calling thread.

    Parameters
    ----------
    work : callable
        A function that releases the GIL and does not itself call ``in_threads``.
    parts : sequence of tuple
        The arguments of each call, one call or more.

    Returns
    -------
    list
        The results, in the order of ``parts``.
    """
    first, *others = parts
    running = [_pool().submit(work, *part) for part in others]
    results = [work(*first)]
    # The calling thread takes what the pool has not begun, from the end; the pool takes parts
    # from the front.
    taken = {i: work(*others[i]) for i in reversed(range(len(others))) if running[i].cancel()}
    results += [taken[i] if i in taken else part.result() for i, part in enumerate(running)]
    return results


def in_row_threads(
    work: Callable[..., T], arguments: tuple[Any, ...], shape: tuple[int, ...], entries: int
) -> list[T]:
    """Return ``work(*arguments, begin, end)`` for ranges of rows, computed by threads.

    Parameters
    ----------
    work : callable
        As in ``in_threads``; its last two arguments are a range of rows.
    arguments : tuple
        The other arguments.
    shape : tuple of int
        The rows and columns of the work.
    entries : int
        The number of entries, below which a range is not worth a thread.

    Returns
    -------
    list
        The results, in the order of the rows.
    """
    n, columns = shape
    count = max(1, min(available_cores(), n, n * columns // entries))
    cuts = [n * i // count for i in range(count + 1)]
    return in_threads(work, [(*arguments, begin, end) for begin, end in pairwise(cuts)])
