"""Inner loops in Numba, for work that is large enough to wait for a compiler.

Nothing outside imports these files at its top: without Numba (``pip install "immax[fast]"``)
all works the same, and slower.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

__all__ = ["numba_is_here", "worth_compiling"]

PATIENCE = 5_000_000  # operations that take NumPy about as long as loading a compiled kernel


@lru_cache
def numba_is_here() -> bool:
    """Whether Numba is installed."""
    return find_spec("numba") is not None


def worth_compiling(operations: int) -> bool:
    """Whether so much work is worth a compiled kernel, and there can be one."""
    return operations >= PATIENCE and numba_is_here()
