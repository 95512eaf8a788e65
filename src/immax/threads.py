"""How many cores there are to use, and a pool of threads to use them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

__all__ = ["available_cores", "in_threads"]

T = TypeVar("T")


def available_cores() -> int:
    """Those that the process is allowed to run on, eight at the most."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), 8)
    return min(os.cpu_count() or 1, 8)


@lru_cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(available_cores() - 1, 1), thread_name_prefix="immax")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def in_threads(work: Callable[..., T], parts: Sequence[tuple[Any, ...]]) -> list[T]:
    """``[work(*part) for part in parts]``, by the pool and by the calling thread.

    For work that lets go of the interpreter's lock and does not itself call this function.
    """
    first, *others = parts
    running = [_pool().submit(work, *part) for part in others]
    results = [work(*first)]
    # What the pool has not begun is done here, from the end; the pool comes from the front.
    taken = {i: work(*others[i]) for i in reversed(range(len(others))) if running[i].cancel()}
    results += [taken[i] if i in taken else part.result() for i, part in enumerate(running)]
    return results
