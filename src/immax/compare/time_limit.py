"""A time limit that also interrupts a fit."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["has_time_for", "interrupt_at"]


def has_time_for(n_more: int, n_done: int, start: float, deadline: float | None) -> bool:
    """Return whether further folds will be done in time if they take as long as the others.

    Parameters
    ----------
    n_more, n_done : int
        The number of further folds, and of those that are done.
    start : float
        A value of ``time.monotonic``: when the first one began.
    deadline : float or None
        A value of ``time.monotonic``; None for no limit.

    Returns
    -------
    bool
    """
    now = time.monotonic()
    return deadline is None or now + (now - start) * n_more / n_done < deadline


@contextmanager
def interrupt_at(deadline: float | None) -> Iterator[None]:
    """Raise TimeoutError in the block when the deadline has passed.

    The block itself is interrupted only in the main thread and where the system has SIGALRM;
    elsewhere (on Windows), the deadline is checked when the block is entered.

    Parameters
    ----------
    deadline : float or None
        A value of ``time.monotonic``; None for no limit.

    Yields
    ------
    None

    Raises
    ------
    TimeoutError
    """
    if deadline is None:
        yield
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, left)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
