"""The loss of a Table by differentiable operations.

``F.cross_entropy`` of adjusted logits does nearly all the work, so that reductions, weights,
ignored labels, smoothing and empty batches behave as in PyTorch, on any device, under any
compiler or transform, and for derivatives of any order.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.torch.call import Call, class_values
from immax.torch.focal import focal_loss_of
from immax.torch.table import Table

__all__ = ["adjusted_logits", "adjusted_rows", "composite_loss", "lower_targets"]


def _along_classes(column: Tensor, logits: Tensor) -> Tensor:
    return column if logits.ndim == 2 else column.view(-1, *[1] * (logits.ndim - 2))


def adjusted_logits(logits: Tensor, call: Call) -> Tensor:
    """Return the logits of the softmax whose cross-entropy is the loss.

    ``h_j scale_j / temperature_y + offset_j - target_offset_y [j = y]``, and -inf for dropped
    classes.

    Parameters
    ----------
    logits : Tensor of shape (N, C, …)
        Scores ``h`` in the call's precision.
    call : Call
        Labels and table.

    Returns
    -------
    Tensor of shape (N, C, …)
    """
    z, table, indices = logits, call.table, call.indices
    if table.temperature is not None:
        z = z / class_values(table.temperature, indices).unsqueeze(1)
    if table.scale is not None and table.offset is not None:
        z = torch.addcmul(_along_classes(table.offset, z), z, _along_classes(table.scale, z))
    elif table.scale is not None:
        z = z * _along_classes(table.scale, z)
    elif table.offset is not None:
        z = z + _along_classes(table.offset, z)
    if table.target_offset is not None:
        lowered = class_values(-table.target_offset, indices).unsqueeze(1)
        z = z.scatter_add(1, indices.unsqueeze(1), lowered)
    if call.drop is not None and table.droppable is not None:
        dropped = call.drop.unsqueeze(1) & _along_classes(table.droppable, z)
        dropped = dropped.scatter(1, indices.unsqueeze(1), False)
        z = z.masked_fill(dropped, -torch.inf)
    return z


def adjusted_rows(h: Tensor, table: Table, temperature: Tensor | None) -> Tensor:
    """Return ``h_j scale_j / temperature + offset_j``, with the classes along the last dimension.

    Parameters
    ----------
    h : Tensor of shape (…, C)
        Scores.
    table : Table
        Gives scale and offset.
    temperature : Tensor, optional
        Whatever divides the scores; one by default.

    Returns
    -------
    Tensor
    """
    z = h if temperature is None else h / temperature
    if table.scale is not None:
        z = z * table.scale
    return z if table.offset is None else z + table.offset


def lower_targets(z: Tensor, table: Table, same: Tensor) -> Tensor:
    """Return logits with the target offset of every class taken from its own row.

    Parameters
    ----------
    z : Tensor of shape (N, C, C)
        Logits; row k is for the target k.
    table : Table
    same : Tensor of bool, shape (C, C)
        The identity.

    Returns
    -------
    Tensor of shape (N, C, C)
    """
    if table.target_offset is None:
        return z
    return z - torch.where(same, table.target_offset, 0.0)


def composite_loss(logits: Tensor, call: Call, label_smoothing: float = 0.0) -> Tensor:
    """Return the reduced loss.

    Parameters
    ----------
    logits : Tensor of shape (N, C, …)
        Scores in the call's precision.
    call : Call
        The other arguments.
    label_smoothing : float, default=0.0
        As in cross-entropy; not with a focal exponent.

    Returns
    -------
    Tensor
        A scalar, or of shape (N, …) without a reduction.
    """
    z = adjusted_logits(logits, call)
    if call.table.focus > 0:
        return _focal(z, call)
    # The divisor of a mean has the caller's weights, but not the method's.
    own_mean = call.reduction == "mean" and (
        call.table.weight is not None or call.shared_divisor is not None
    )
    loss = F.cross_entropy(
        z,
        call.target,
        call.class_weights(),
        ignore_index=call.ignore_index,
        reduction="sum" if own_mean else call.reduction,
        label_smoothing=label_smoothing,
    )
    return loss / call.divisor() if own_mean else loss


def _focal(z: Tensor, call: Call) -> Tensor:
    nll = F.cross_entropy(z, call.target, ignore_index=call.ignore_index, reduction="none")
    return call.reduced(focal_loss_of(nll, call.table.focus))
