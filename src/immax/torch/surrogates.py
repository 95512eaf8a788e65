"""IMMAX with the hinge, the exponential, and the logistic surrogate on one logit, as functions."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.torch.call import Call, looked_up
from immax.torch.checks import (
    check_arguments,
    check_class_vector,
    check_margins,
    check_reduction,
    explain_range,
    readable,
)
from immax.torch.precision import result_dtype, working_dtype
from immax.torch.table import Table

__all__ = ["immax_binary_loss", "immax_exponential_loss", "immax_hinge_loss"]


def immax_hinge_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """``max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)``; arguments as in ``immax_loss``."""

    def hinge(gaps: Tensor) -> Tensor:
        return torch.relu(1 + gaps.amax(1))

    return _gap_loss(hinge, logits, target, rho, weight, ignore_index, reduction)


def immax_exponential_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    form: str = "sum",
) -> Tensor:
    """``sum_{j != y} exp((h_j - h_y) / rho_y)``, or with ``form="max"`` the largest of these."""
    if form not in ("sum", "max"):
        raise ValueError(f"form must be 'sum' or 'max'; got {form!r}")

    def exponential(gaps: Tensor) -> Tensor:
        return gaps.exp().sum(1) if form == "sum" else gaps.amax(1).exp()

    return _gap_loss(exponential, logits, target, rho, weight, ignore_index, reduction)


def _gap_loss(
    of_gaps: Callable[[Tensor], Tensor],
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> Tensor:
    """A loss of ``(h_j - h_y) / rho_y``, -inf at the target itself."""
    check_arguments(logits, target, reduction)
    check_margins(rho, logits)
    if weight is not None:
        check_class_vector(weight, "weight", logits)
    if logits.ndim == 1:
        loss = _gap_loss(
            of_gaps,
            logits.unsqueeze(0),
            target.unsqueeze(0),
            rho,
            weight,
            ignore_index,
            reduction,
        )
        return loss.squeeze(0) if reduction == "none" else loss
    h = logits.to(working_dtype(logits.dtype))
    target = target.long()
    if readable(target):
        explain_range(target, logits.shape[1], ignore_index)
    # Any other label that is no class fails where it is looked up.
    known = target.masked_fill(target == ignore_index, 0)
    at = known.unsqueeze(1)
    gaps = (h - h.gather(1, at)) * looked_up(rho.to(h.dtype).reciprocal(), known).unsqueeze(1)
    losses = of_gaps(gaps.scatter(1, at, -torch.inf))
    losses = losses.masked_fill(target == ignore_index, 0)
    weight = None if weight is None else weight.to(h.dtype)
    call = Call(target, Table(), None, weight, ignore_index, reduction)
    return call.reduced(losses).to(result_dtype(logits))


def immax_binary_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + e^{-h / rho_1})`` for a target of 1, ``log(1 + e^{h / rho_0})`` for 0.

    Arguments as in ``F.binary_cross_entropy_with_logits``: targets of the logits' shape, from
    0 to 1; ``weight`` broadcasts, and the mean is over the elements. With ``rho = (1, 1)`` it
    is that function.
    """
    check_reduction(reduction)
    if target.shape != logits.shape:
        raise ValueError(
            f"target must have the logits' shape, {tuple(logits.shape)}; got {tuple(target.shape)}"
        )
    check_margins(rho, logits, 2)
    h = logits.to(working_dtype(logits.dtype))
    y, (slope_0, slope_1) = target.to(h.dtype), rho.to(h.dtype).reciprocal().unbind()
    losses = y * F.softplus(-h * slope_1, threshold=1e9)
    losses = losses + (1 - y) * F.softplus(h * slope_0, threshold=1e9)
    if weight is not None:
        losses = losses * weight
    if reduction != "none":
        losses = losses.mean() if reduction == "mean" else losses.sum()
    return losses.to(result_dtype(logits))
