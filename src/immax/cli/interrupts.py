"""Ctrl-C while the command starts: one line, whatever is being imported.

An interruption during an import may surface as another error, or be lost. Until a command begins,
Ctrl-C therefore ends the process at once; after that it raises an exception as usual.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

__all__ = ["INTERRUPTED", "exit_when_interrupted", "raise_when_interrupted"]

INTERRUPTED = 130
"""The exit code, as of programs that the signal SIGINT ends."""


def _exit(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"immax: interrupted\n")
    os._exit(INTERRUPTED)


def exit_when_interrupted() -> None:
    """Have Ctrl-C end the process with one line, unless the process ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit)


def raise_when_interrupted() -> None:
    """Have Ctrl-C raise KeyboardInterrupt again, after ``exit_when_interrupted``."""
    if signal.getsignal(signal.SIGINT) is _exit:
        signal.signal(signal.SIGINT, signal.default_int_handler)
