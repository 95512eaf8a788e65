"""What results may depend on: versions of libraries, the machine, the memory in use."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["describe_environment", "peak_memory"]

LIBRARIES = ("immax", "numpy", "scipy", "scikit-learn", "torch", "numba", "imbalanced-learn")


def describe_environment() -> dict[str, str]:
    """Return the versions of Python and of the libraries, and what the machine is."""
    found = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": platform.processor() or "unknown",
        "system": platform.system(),
        "cores": str(os.cpu_count()),
    }
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def peak_memory() -> float | None:
    """Return the most memory that this process has used, in MiB; None where that is not known."""
    try:
        import resource  # not on Windows
    except ModuleNotFoundError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
