"""What results may depend on: versions of libraries, the machine, the memory in use."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["available_memory", "describe_environment", "peak_memory"]

LIBRARIES = ("immax", "numpy", "scipy", "scikit-learn", "torch", "numba", "imbalanced-learn")
"""Distributions whose versions are recorded, where they are installed."""


def describe_environment() -> dict[str, str]:
    """Return the versions of Python and of the libraries, and a description of the machine.

    Returns
    -------
    dict of str to str
        Libraries that are not installed are missing.

    Examples
    --------
    >>> "python" in describe_environment()
    True
    """
    environment = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": platform.processor() or "unknown",
        "system": platform.system(),
        "cores": str(os.cpu_count()),
    }
    for name in LIBRARIES:
        try:
            environment[name] = version(name)
        except PackageNotFoundError:
            continue
    return environment


def peak_memory() -> float | None:
    """Return the peak memory of this process in MiB, or None where it is unknown.

    Returns
    -------
    float or None
        None on Windows, which has no module ``resource``.
    """
    try:
        import resource
    except ModuleNotFoundError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)  # bytes there, KiB elsewhere


def available_memory() -> int | None:
    """Return the bytes of memory that this process may still use, or None where it is unknown.

    Returns
    -------
    int or None
        What the system has available, or less if the address space of the process is limited.
    """
    try:
        import resource

        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        available = int(fields["MemAvailable"].split()[0]) * 2**10
    except (ModuleNotFoundError, OSError, KeyError):
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return available if limit == resource.RLIM_INFINITY else min(available, limit)
