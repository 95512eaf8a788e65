"""A Table's loss by differentiable operations: for any device, transform, compiler or order.

``F.cross_entropy`` of adjusted logits does nearly all the work, so that reductions, weights,
ignored labels, smoothing and empty batches are PyTorch's own.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.torch.call import Call, looked_up
from immax.torch.focal import focal_loss_of

__all__ = ["adjusted", "composite_loss"]


def _by_class(column: Tensor, logits: Tensor) -> Tensor:
    return column if logits.ndim == 2 else column.view(-1, *[1] * (logits.ndim - 2))


def adjusted(logits: Tensor, known: Tensor, call: Call) -> Tensor:
    """``h_j scale_j / temperature_y + offset_j - target_offset_y [j = y]``, -inf if dropped."""
    z, table = logits, call.table
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
    if call.drop is not None and table.droppable is not None:
        dropped = call.drop.unsqueeze(1) & _by_class(table.droppable, z)
        dropped = dropped.scatter(1, known.unsqueeze(1), False)
        z = z.masked_fill(dropped, -torch.inf)
    return z


def composite_loss(
    logits: Tensor, call: Call, label_smoothing: float = 0.0, hopeful: bool = False
) -> Tensor:
    """The reduced loss; logits of shape (N, C, …), of the call's precision.

    ``hopeful`` looks labels up as they are, which fails on a CPU if one is to be ignored.
    """
    z = adjusted(logits, call.target if hopeful else call.known(), call)
    if call.table.focus > 0:
        return _focal(z, call)
    # A method's own weights do not enter the mean's divisor, those of the caller do.
    ours = call.reduction == "mean" and call.table.weight is not None
    loss = F.cross_entropy(
        z,
        call.target,
        call.class_weights(),
        ignore_index=call.ignore_index,
        reduction="sum" if ours else call.reduction,
        label_smoothing=label_smoothing,
    )
    return loss / call.divisor() if ours else loss


def _focal(z: Tensor, call: Call) -> Tensor:
    nll = F.cross_entropy(z, call.target, ignore_index=call.ignore_index, reduction="none")
    return call.reduced(focal_loss_of(nll, call.table.focus))
