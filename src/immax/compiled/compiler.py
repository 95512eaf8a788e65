"""The decorator that compiles the kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from numba import cfunc, njit

__all__ = ["c_function", "jit"]

F = TypeVar("F", bound=Callable[..., object])


def jit(
    *,
    nogil: bool = True,
    fastmath: Collection[str] = (),
    error_model: str = "python",
    inline: str = "never",
    owns_arrays: bool = True,
) -> Callable[[F], F]:
    """Return a decorator that compiles a function with Numba.

    The machine code is cached on disk, unless no directory can be written to.

    Parameters
    ----------
    nogil : bool, default=True
        Whether the compiled function releases the GIL.
    fastmath : collection of str, default=()
        The LLVM flags of fast arithmetic that the function permits.
    error_model : {"python", "numpy"}, default="python"
        Whether a division by zero raises, or gives infinity or NaN.
    inline : {"never", "always"}, default="never"
        Whether the function becomes part of its compiled callers, with their options.
    owns_arrays : bool, default=True
        Whether references to arrays are counted. A function that creates none need not count;
        counting takes longer than a short row's arithmetic.

    Returns
    -------
    callable
        Takes a function, and returns the compiled one.
    """
    options = {
        "nogil": nogil,
        "fastmath": set(fastmath),
        "error_model": error_model,
        "inline": inline,
        "_nrt": owns_arrays,
    }

    def compile_function(function: F) -> F:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # neither this directory nor the user's cache can be written to
            return njit(**options)(function)

    return compile_function


def c_function(signature: object) -> Callable[[Callable[..., object]], Any]:
    """Return a decorator that compiles a function for callers that know nothing of Python.

    The machine code is cached as that of ``jit``. Errors cannot be raised through such callers:
    they are printed, and the function returns.

    Parameters
    ----------
    signature : signature of Numba
        The types of the arguments and of the result.

    Returns
    -------
    callable
        Takes a function, and returns an object with its ``address``, and its ``ctypes`` version,
        which releases the GIL.
    """

    def compile_function(function: Callable[..., object]) -> Any:
        try:
            return cfunc(signature, cache=True)(function)
        except RuntimeError:  # as in ``jit``
            return cfunc(signature)(function)

    return compile_function
