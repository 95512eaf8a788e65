"""How the kernels of this room are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["jit"]


def jit(nogil: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numba, as a rule without the interpreter's lock; kept on disk if there is a place."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, nogil=nogil, **options)(function)
        except RuntimeError:  # neither this folder nor the user's can be written to
            return njit(nogil=nogil, **options)(function)

    return compiled
