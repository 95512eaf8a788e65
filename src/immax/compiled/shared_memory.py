"""Memory that compiled threads share, by its address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["fetch_add", "pointer"]


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:  # noqa: ARG001
    """Return an integer as a pointer, for ``numba.carray``.

    Parameters
    ----------
    typing_context : object
        Passed by Numba.
    address : object
        Passed by Numba: the type of the argument, an integer of 64 bits.

    Returns
    -------
    tuple
        The signature, and the function that generates the code.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


@intrinsic
def fetch_add(typing_context: Any, address: Any) -> Any:  # noqa: ARG001
    """Add one to the integer of 64 bits at an address, and return what it was.

    No two threads get the same number. What a thread wrote before is visible to those whose
    numbers are higher.

    Parameters
    ----------
    typing_context : object
        Passed by Numba.
    address : object
        Passed by Numba: the type of the argument, an integer of 64 bits.

    Returns
    -------
    tuple
        The signature, and the function that generates the code.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        counter = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", counter, ir.Constant(ir.IntType(64), 1), "acq_rel")

    return types.int64(types.int64), generate
