"""The loss of a Table for targets that are class probabilities, as for mixup and distillation.

It is the expected loss of a label drawn from the target: ``sum_k t_k L(h, k)``. With margins of
one that is what ``F.cross_entropy`` computes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from immax.torch.composite import adjusted_rows
from immax.torch.focal import focal_loss_of
from immax.torch.states import States, current_states, index_tensor
from immax.torch.table import Table

__all__ = ["SoftCall", "soft_target_loss"]


class SoftCall(NamedTuple):
    """The arguments of an evaluation, other than the logits; tensors have one precision.

    Attributes
    ----------
    target : Tensor of shape (N, C, …)
        Class probabilities, along dimension 1.
    table : Table
        The method.
    drop : Tensor of bool, shape (N, …), or None
        Whether a sample leaves the droppable classes out.
    weight : Tensor of shape (C,), or None
        The caller's class weights.
    reduction : {"mean", "sum", "none"}
        A mean is over samples: as in cross-entropy, class weights do not enter its divisor.
    label_smoothing : float
        As in cross-entropy, of the loss of each label.
    """

    target: Tensor
    table: Table
    drop: Tensor | None
    weight: Tensor | None
    reduction: str
    label_smoothing: float


def soft_target_loss(
    logits: Tensor, call: SoftCall, divisor: Tensor | float | None = None
) -> Tensor:
    """Return the reduced loss, by differentiable operations.

    Parameters
    ----------
    logits : Tensor of shape (N, C, …)
        Scores in the call's precision.
    call : SoftCall
        The other arguments.
    divisor : Tensor or float, optional
        What a mean divides by; the number of samples by default.

    Returns
    -------
    Tensor
        A scalar, or of shape (N, …) without a reduction.
    """
    last = logits.movedim(1, -1)
    shape = last.shape[:-1]
    drop = None if call.drop is None else call.drop.flatten()
    target = call.target.movedim(1, -1).flatten(0, -2)
    losses = _losses(last.flatten(0, -2), target, call._replace(drop=drop))
    if call.reduction == "none":
        return losses.view(shape)
    if call.reduction == "sum":
        return losses.sum()
    return losses.mean() if divisor is None else losses.sum() / divisor


def _losses(h: Tensor, target: Tensor, call: SoftCall) -> Tensor:
    """Return the loss of each row."""
    table, weight = call.table, call.weight
    if table.weight is not None:
        weight = table.weight if weight is None else weight * table.weight
    states = current_states(table.temperature) or States.of(None, h.shape[1])
    total = torch.zeros_like(h[:, 0])
    begin = 0
    for size, first in zip(states.sizes, states.first, strict=True):
        members = None
        if size < h.shape[1]:
            members = index_tensor(states.order[begin : begin + size], h)
            begin += size
        z = adjusted_rows(h, table, None if table.temperature is None else table.temperature[first])
        total = total + _losses_of_members(z, target, members, weight, call)
    return total


def _losses_of_members(
    z: Tensor, target: Tensor, members: Tensor | None, weight: Tensor | None, call: SoftCall
) -> Tensor:
    """Return ``sum_k t_k w_k L(z, k)`` over classes that share a temperature; None for all."""
    table, smoothing = call.table, call.label_smoothing

    def of_members(values: Tensor, dim: int = 1) -> Tensor:
        return values if members is None else values.index_select(dim, members)

    own, shares = of_members(z), of_members(target)
    log_sum, lowered = _log_sums(z, own, members, call)
    nll = log_sum - lowered
    losses = focal_loss_of(nll, table.focus) if table.focus > 0 else nll
    class_weight = None if weight is None else of_members(weight, 0)
    if class_weight is not None:
        losses = losses * class_weight
    if smoothing:
        every = torch.ones_like(z[0]) if weight is None else weight
        # sum_j w_j (log_sum_k - z_j), with the target's own score lowered by its offset
        spread = every.sum() * log_sum - (z @ every).unsqueeze(1)
        if table.target_offset is not None:
            spread = spread + of_members(table.target_offset * every, 0)
        losses = (1 - smoothing) * losses + smoothing / z.shape[1] * spread
    return (shares * losses).sum(1)


def _log_sums(
    z: Tensor, own: Tensor, members: Tensor | None, call: SoftCall
) -> tuple[Tensor, Tensor]:
    """Return the logarithm of the softmax's divisor for each label, and the label's own score."""
    table = call.table
    remaining, in_sum = z, None
    if call.drop is not None and table.droppable is not None:
        dropped = call.drop.unsqueeze(1) & table.droppable
        remaining = z.masked_fill(dropped, -torch.inf)
        in_sum = ~(dropped if members is None else dropped.index_select(1, members))
    log_sum = remaining.logsumexp(1, keepdim=True)
    if table.target_offset is None and in_sum is None:
        return log_sum, own
    lowered = own
    if table.target_offset is not None:
        offset = table.target_offset
        lowered = own - (offset if members is None else offset.index_select(0, members))
    # The sum over the other classes: log(sum - e^own) where the label's own term is in the sum.
    share = (own - log_sum).clamp_max(-1e-30)
    others = log_sum + torch.log(-torch.expm1(share))
    if in_sum is not None:
        others = torch.where(in_sum, others, log_sum)
    return torch.logaddexp(others, lowered), lowered
