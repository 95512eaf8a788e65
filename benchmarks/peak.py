"""Peak memory of a piece of work (Linux)."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(name + r":\s+(\d+)", text)
    assert found
    return int(found[1])


def peak_mib(work: Callable[[], object]) -> float:
    """MiB that the process's memory rises by at the most while it works."""
    ctypes.CDLL(None).malloc_trim(0)  # hand back what earlier work left free
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget earlier peaks
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1024
