"""Kernels compiled by Numba, for work that is large enough to pay for the compilation.

No module imports a kernel at import time: without Numba (``pip install "immax[fast]"``)
everything works the same, only more slowly.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

__all__ = ["has_numba", "worth_compiling"]

SMALLEST_WORK = 5_000_000  # operations that take NumPy about as long as loading a compiled kernel


@lru_cache
def has_numba() -> bool:
    """Return whether Numba is installed.

    Returns
    -------
    bool
    """
    return find_spec("numba") is not None


def worth_compiling(operations: int) -> bool:
    """Return whether a computation should use a compiled kernel.

    Parameters
    ----------
    operations : int
        The approximate number of operations, over all calls that are to be expected.

    Returns
    -------
    bool
        False for small computations, and without Numba.
    """
    return operations >= SMALLEST_WORK and has_numba()
