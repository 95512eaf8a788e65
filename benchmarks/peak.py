"""Peak memory of a task (Linux)."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(name + r":\s+(\d+)", text)
    if match is None:
        raise RuntimeError(f"/proc/self/status has no {name}")
    return int(match[1])


def peak_mib(task: Callable[[], object]) -> float:
    """Return by how many MiB the memory of the process rises at most during a task."""
    ctypes.CDLL(None).malloc_trim(0)  # return free memory to the system
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    before = _status("VmRSS")
    task()
    return (_status("VmHWM") - before) / 1024
