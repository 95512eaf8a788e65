"""How the kernels of this room are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["jit"]


def jit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numba without the interpreter's lock, kept on disk if there is somewhere to keep it."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # neither this folder nor the user's can be written to
            return njit(nogil=True, **options)(function)

    return compiled
