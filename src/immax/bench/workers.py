"""Names of the processes that run cells, and whether they are alive."""

from __future__ import annotations

import os
import socket
import sys
import time

__all__ = ["is_dead", "worker_name"]

SILENCE = 600.0  # seconds without a heartbeat after which a worker is dead, if it cannot be asked


def worker_name() -> str:
    """Return the host and the process id of this process.

    Returns
    -------
    str
    """
    return f"{socket.gethostname()}:{os.getpid()}"


def is_dead(worker: str | None, seen: float | None) -> bool:
    """Return whether a worker has died.

    Parameters
    ----------
    worker : str or None
        As ``worker_name`` names it.
    seen : float or None
        The time of its last heartbeat, by which workers on other machines are judged, and on
        Windows all of them.

    Returns
    -------
    bool
    """
    if worker is None or seen is None:
        return True
    host, _, pid = worker.rpartition(":")
    if host != socket.gethostname():
        return time.time() - seen > SILENCE
    if int(pid) == os.getpid():
        return False
    if sys.platform == "win32":  # where os.kill(pid, 0) is Ctrl-C for a group of processes
        return time.time() - seen > SILENCE
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
