"""How many cores this process may use."""

from __future__ import annotations

import os

__all__ = ["available_cores"]


def available_cores() -> int:
    """Those that the process is allowed to run on, eight at the most."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), 8)
    return min(os.cpu_count() or 1, 8)
