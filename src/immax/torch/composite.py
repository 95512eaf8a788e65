"""A Table's loss by differentiable operations: for any device, transform, compiler or order.

``F.cross_entropy`` of adjusted logits does nearly all the work, so that reductions, weights,
ignored labels, smoothing and empty batches are PyTorch's own.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.torch.table import Table

__all__ = ["adjusted", "composite_loss", "divisor", "looked_up", "without_ignored"]


def without_ignored(target: Tensor, ignore_index: int) -> Tensor:
    """Labels that can be looked up: what is ignored later on is taken for class 0 here."""
    if ignore_index < 0:
        return target.clamp_min(0)
    return target.masked_fill(target == ignore_index, 0)


def looked_up(column: Tensor, target: Tensor) -> Tensor:
    """The entries of a per-class column at the targets, of the targets' shape."""
    return column.index_select(0, target) if target.ndim == 1 else column[target]


def _by_class(column: Tensor, logits: Tensor) -> Tensor:
    return column if logits.ndim == 2 else column.view(-1, *[1] * (logits.ndim - 2))


def adjusted(logits: Tensor, known: Tensor, table: Table, drop: Tensor | None) -> Tensor:
    """``h_j scale_j / temperature_y + offset_j - target_offset_y [j = y]``, -inf if dropped."""
    z = logits
    if table.temperature is not None:
        z = z / looked_up(table.temperature, known).unsqueeze(1)
    if table.scale is not None and table.offset is not None:
        z = torch.addcmul(_by_class(table.offset, z), z, _by_class(table.scale, z))
    elif table.scale is not None:
        z = z * _by_class(table.scale, z)
    elif table.offset is not None:
        z = z + _by_class(table.offset, z)
    if table.target_offset is not None:
        lowered = looked_up(-table.target_offset, known).unsqueeze(1)
        z = z.scatter_add(1, known.unsqueeze(1), lowered)
    if drop is not None and table.droppable is not None:
        dropped = drop.unsqueeze(1) & _by_class(table.droppable, z)
        dropped = dropped.scatter(1, known.unsqueeze(1), False)
        z = z.masked_fill(dropped, -torch.inf)
    return z


def divisor(target: Tensor, weight: Tensor | None, ignore_index: int) -> Tensor:
    """What a mean divides by: how many samples count, or the sum of their weights."""
    counted = target != ignore_index
    if weight is None:
        return counted.sum()
    return (looked_up(weight, without_ignored(target, ignore_index)) * counted).sum()


def composite_loss(
    logits: Tensor,
    target: Tensor,
    table: Table,
    drop: Tensor | None,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float = 0.0,
    hopeful: bool = False,
) -> Tensor:
    """The reduced loss; logits of shape (N, C, …), target (N, …), all of one precision.

    ``hopeful`` looks labels up as they are, which fails on a CPU if one is to be ignored.
    """
    known = target if hopeful else without_ignored(target, ignore_index)
    z = adjusted(logits, known, table, drop)
    if table.focus > 0:
        return _focal(z, target, table, weight, ignore_index, reduction)
    both = weight
    if table.weight is not None:
        both = table.weight if weight is None else weight * table.weight
    # A method's own weights do not enter the mean's divisor, those of the caller do.
    ours = reduction == "mean" and table.weight is not None
    loss = F.cross_entropy(
        z,
        target,
        both,
        ignore_index=ignore_index,
        reduction="sum" if ours else reduction,
        label_smoothing=label_smoothing,
    )
    return loss / divisor(target, weight, ignore_index) if ours else loss


def _focal(
    z: Tensor,
    target: Tensor,
    table: Table,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> Tensor:
    nll = F.cross_entropy(z, target, ignore_index=ignore_index, reduction="none")
    # Powers have no slope at zero: the smallest number stands in for it.
    rest = (-torch.expm1(-nll)).clamp_min(torch.finfo(nll.dtype).tiny)
    losses = rest.pow(table.focus) * nll
    for column in (table.weight, weight):
        if column is not None:
            losses = losses * looked_up(column, without_ignored(target, ignore_index))
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / divisor(target, weight, ignore_index)
