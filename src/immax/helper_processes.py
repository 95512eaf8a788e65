"""Python processes that work for this one, and that may be started before their work is known."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress

__all__ = ["is_started_ahead", "obtain_process", "start_ahead", "stop_process", "stop_waiting"]

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_ahead: dict[str, list[subprocess.Popen[bytes]]] = {}


def start_ahead(module: str, count: int) -> None:
    """Start processes that will be needed, so that they import what they need while this one does.

    Those that nobody has obtained when this process ends are stopped.

    Parameters
    ----------
    module : str
        What the processes run. It should end when its standard input does.
    count : int
        The number of processes.
    """
    processes = [_start(module) for _ in range(count)]
    if not _ahead:
        atexit.register(stop_waiting)
    _ahead.setdefault(module, []).extend(processes)


def is_started_ahead(module: str) -> bool:
    """Return whether a process that runs a module is waiting to be obtained.

    Parameters
    ----------
    module : str

    Returns
    -------
    bool
    """
    return bool(_ahead.get(module))


def obtain_process(module: str) -> subprocess.Popen[bytes]:
    """Return a process that runs a module, one that was started ahead or a new one.

    Its standard input and output are pipes, and each library has one thread there. Ctrl-C does
    not reach it: whoever obtains it stops it.

    Parameters
    ----------
    module : str

    Returns
    -------
    subprocess.Popen
    """
    waiting = _ahead.get(module)
    return waiting.pop() if waiting else _start(module)


def stop_process(process: subprocess.Popen[bytes]) -> None:
    """End a process, whatever it does, and close its pipes.

    Parameters
    ----------
    process : subprocess.Popen
    """
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent is of no use any more
                pipe.close()


def _start(module: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(part for part in sys.path if part)
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": path},
        start_new_session=True,
    )


def stop_waiting() -> None:
    """Stop the processes that were started ahead and that nobody has obtained."""
    for processes in _ahead.values():
        while processes:
            stop_process(processes.pop())
