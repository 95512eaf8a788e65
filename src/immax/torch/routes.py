"""The choice of the code that computes a loss.

All routes compute the same loss, and everything that decides among them is in this module.
``IMMAXLoss`` asks ``choose_quick_route`` first, with arguments that nobody has checked; all other
calls, and those that it has no route for, are checked and get that of ``choose_route``. The first
row that applies is taken:

================  ==============================  ==============================================
route             code                            when
================  ==============================  ==============================================
QUICK_COMPILED    ``quick``, in Numba             ``IMMAXLoss`` without class weights, on a CPU,
                                                  in single or double precision,
                                                  up to a million logits in a matrix, margins
                                                  that are known to be valid, labels that are
                                                  all classes, nothing traced; means with a
                                                  gradient of 8,192 logits and more
QUICK_FUNCTION    ``quick``, an autograd          the same without Numba, of 196,608 logits and
                  function                        more
QUICK_OPERATIONS  ``quick``, in PyTorch           the same with fewer logits, without gradients,
                                                  and for other reductions
COMPOSITE         ``composite.composite_loss``    under ``torch.compile``, ``torch.export``, the
                                                  transforms of ``torch.func`` and modes of
                                                  dispatch
CROSS_ENTROPY     ``F.cross_entropy``             margins whose values are all one
COMPOSITE         ``composite.composite_loss``    no gradient in the logits, or one in the table
                                                  or the class weights; label smoothing; small
                                                  batches; logits that are not a matrix; tensor
                                                  subclasses
COMPILED          ``fused``, in Numba             on a CPU, with Numba
OPERATIONS        ``fused``, in PyTorch           other devices, or without Numba
================  ==============================  ==============================================

The last two form the gradient in the forward pass. ``linear_immax_loss`` forms blocks of logits
itself, and its blocks are always fused, except under a compiler or a transform.
"""

from __future__ import annotations

from enum import Enum, auto

import torch
from torch import Tensor

from immax.compiled import has_numba
from immax.torch.checks import PLAIN_TENSORS, REDUCTIONS, are_classes, is_traced
from immax.torch.column_checks import known_to_be_valid
from immax.torch.table import Table
from immax.torch.threads import has_openmp

__all__ = ["Route", "choose_quick_route", "choose_route"]

FEWEST_ENTRIES = 2**17  # below, a Python function in the graph costs more than it saves
FEWEST_ENTRIES_OF_MANY_OPERATIONS = 2**13  # the same with a focal exponent or dropped classes
QUICK_DTYPES = (torch.float32, torch.float64)  # others are computed in single precision
MOST_QUICK = 2**20  # entries above which checks take no time compared with the loss
FEWEST_OF_QUICK_FUNCTION = 3 * 2**16  # as FEWEST_ENTRIES
FEWEST_OF_QUICK_COMPILED = 2**13  # below, it saves too little to be worth its compilation
# Entries of which many threads of PyTorch make short work; few of them are no quicker than one
# thread of compiled code, which has only that where it cannot share those of PyTorch.
IN_PARALLEL, FEW_THREADS = range(2**15, 2**18), 2


class Route(Enum):
    """The ways to compute a loss; the module's docstring says when each is used."""

    QUICK_COMPILED = auto()
    QUICK_FUNCTION = auto()
    QUICK_OPERATIONS = auto()
    CROSS_ENTROPY = auto()
    COMPOSITE = auto()
    COMPILED = auto()
    OPERATIONS = auto()


def choose_quick_route(
    logits: Tensor, target: Tensor, rho: Tensor, ignore_index: int, reduction: str
) -> Route | None:
    """Choose a route for IMMAX alone in the most frequent case, and None in any other.

    That is a matrix of logits on a CPU in the margins' precision, labels that are all classes,
    margins that were checked before and are not all one, and no compiler or transform at work.

    Parameters
    ----------
    logits, target, rho, ignore_index, reduction
        As in ``immax.torch.functional.immax_loss``; nothing of them has been checked.

    Returns
    -------
    Route or None
        One of ``immax.torch.quick``.
    """
    if is_traced():
        return None
    shape = logits.shape
    if len(shape) != 2:
        return None
    n, c = shape
    if (
        logits.dtype is not rho.dtype
        or logits.dtype not in QUICK_DTYPES
        or not logits.is_cpu
        or type(logits) not in PLAIN_TENSORS
        or logits.is_neg()
        or target.dtype is not torch.int64
        or target.shape != (n,)
        or not known_to_be_valid(rho, c)
    ):
        return None
    entries = n * c
    if not 0 < entries <= MOST_QUICK or reduction not in REDUCTIONS or 0 <= ignore_index < c:
        return None
    route = Route.QUICK_OPERATIONS
    if reduction == "mean" and logits.requires_grad and torch.is_grad_enabled():
        in_parallel = (
            entries in IN_PARALLEL and torch.get_num_threads() > FEW_THREADS and not has_openmp()
        )
        if entries >= FEWEST_OF_QUICK_COMPILED and not in_parallel and has_numba():
            return Route.QUICK_COMPILED  # which checks the labels itself
        if entries >= FEWEST_OF_QUICK_FUNCTION:
            route = Route.QUICK_FUNCTION
    return route if are_classes(target, c) else None


def choose_route(
    logits: Tensor,
    table: Table,
    weight: Tensor | None = None,
    label_smoothing: float = 0.0,
    *,
    unit_margins: bool = False,
    by_blocks: bool = False,
    traced: bool | None = None,
) -> Route:
    """Choose how a loss of validated arguments is computed.

    Parameters
    ----------
    logits : Tensor of shape (N, C, …)
        Scores in the precision of the computation; features if ``by_blocks``.
    table : Table
        The method.
    weight : Tensor of shape (C,), optional
        The caller's class weights.
    label_smoothing : float, default=0.0
        As in cross-entropy.
    unit_margins : bool, default=False
        Whether the loss is known to be cross-entropy by margins that are all one.
    by_blocks : bool, default=False
        Whether the caller forms logits block by block.
    traced : bool, optional
        The result of ``is_traced``, if the caller has it already.

    Returns
    -------
    Route
    """
    if is_traced() if traced is None else traced:
        return Route.COMPOSITE
    if not by_blocks:
        if unit_margins:
            return Route.CROSS_ENTROPY
        if label_smoothing or not _should_fuse(logits, table, weight):
            return Route.COMPOSITE
    return Route.COMPILED if logits.is_cpu and has_numba() else Route.OPERATIONS


def _should_fuse(logits: Tensor, table: Table, weight: Tensor | None) -> bool:
    """Return whether to form the gradient in the forward pass."""
    many = table.focus > 0 or table.droppable is not None
    return (
        logits.numel() >= (FEWEST_ENTRIES_OF_MANY_OPERATIONS if many else FEWEST_ENTRIES)
        and logits.ndim == 2
        and logits.requires_grad
        and torch.is_grad_enabled()
        and type(logits) in PLAIN_TENSORS
        and not table.requires_grad()
        and (weight is None or not weight.requires_grad)
    )
