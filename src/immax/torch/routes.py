"""The choice of the code that computes a loss.

All routes compute the same loss from the same validated arguments. ``choose_route`` takes the
first row that applies, after ``IMMAXLoss`` has tried the quick one:

===============  ===============================  ==============================================
route            code                             when
===============  ===============================  ==============================================
(quick)          ``quick.quick_loss``             ``IMMAXLoss`` without class weights, on a CPU,
                                                  up to a million logits in a matrix, margins
                                                  that are known to be valid, nothing traced;
                                                  means of 8,192 logits and more in Numba
COMPOSITE        ``composite.composite_loss``     under ``torch.compile``, ``torch.export`` and
                                                  the transforms of ``torch.func``
CROSS_ENTROPY    ``F.cross_entropy``              margins whose values are all one
COMPOSITE        ``composite.composite_loss``     no gradient in the logits, or one in the table
                                                  or the class weights; label smoothing; small
                                                  batches; logits that are not a matrix; tensor
                                                  subclasses
COMPILED         ``fused``, in Numba              on a CPU, with Numba
OPERATIONS       ``fused``, in PyTorch            other devices, or without Numba
===============  ===============================  ==============================================

The last two form the gradient in the forward pass. ``linear_immax_loss`` forms blocks of logits
itself, and its blocks are always fused, except in the first row.
"""

from __future__ import annotations

from enum import Enum, auto

import torch
from torch import Tensor

from immax.compiled import has_numba
from immax.torch.checks import PLAIN_TENSORS, is_traced
from immax.torch.table import Table

__all__ = ["Route", "choose_route"]

FEWEST_ENTRIES = 2**17  # below, a Python function in the graph costs more than it saves
FEWEST_ENTRIES_OF_MANY_OPERATIONS = 2**13  # the same with a focal exponent or dropped classes


class Route(Enum):
    """The ways to compute a loss; the module's docstring says when each is used."""

    CROSS_ENTROPY = auto()
    COMPOSITE = auto()
    COMPILED = auto()
    OPERATIONS = auto()


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
    """Choose how a loss is computed.

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
