"""IMMAX as functions: hinge, exponential, the logistic max form, and two classes on one logit."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.torch.call import Call, class_values
from immax.torch.checks import (
    check_arguments,
    check_class_vector,
    check_reduction,
    class_indices,
)
from immax.torch.column_checks import check_margins
from immax.torch.precision import result_dtype, working_dtype
from immax.torch.processes import Group, add_over_processes, group_size
from immax.torch.table import Table

__all__ = [
    "FORMS",
    "immax_binary_loss",
    "immax_exponential_loss",
    "immax_hinge_loss",
    "immax_logistic_max_loss",
]

FORMS = ("sum", "max")


def immax_hinge_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    group: Group = None,
) -> Tensor:
    """Return the hinge form of IMMAX, ``max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)``.

    Parameters
    ----------
    logits, target, rho, weight, ignore_index, reduction, group
        As in ``immax.torch.functional.immax_loss``.

    Returns
    -------
    Tensor
        A scalar, or of the target's shape without a reduction.
    """

    def hinge(gaps: Tensor) -> Tensor:
        return torch.relu(1 + gaps.amax(1))

    return _gap_loss(hinge, logits, target, rho, weight, ignore_index, reduction, group)


def immax_logistic_max_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    group: Group = None,
) -> Tensor:
    """Return the max form of logistic IMMAX, ``max_{j != y} log(1 + exp((h_j - h_y) / rho_y))``.

    Parameters
    ----------
    logits, target, rho, weight, ignore_index, reduction, group
        As in ``immax.torch.functional.immax_loss``.

    Returns
    -------
    Tensor
        A scalar, or of the target's shape without a reduction.

    References
    ----------
    *Balancing the Scales*, section on multi-class algorithms, with the natural logarithm.
    """

    def logistic(gaps: Tensor) -> Tensor:
        return _softplus(gaps.amax(1))

    return _gap_loss(logistic, logits, target, rho, weight, ignore_index, reduction, group)


def immax_exponential_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    form: str = "sum",
    group: Group = None,
) -> Tensor:
    """Return the exponential form of IMMAX, ``sum_{j != y} exp((h_j - h_y) / rho_y)``.

    Parameters
    ----------
    logits, target, rho, weight, ignore_index, reduction, group
        As in ``immax.torch.functional.immax_loss``.
    form : {"sum", "max"}, default="sum"
        Whether to add the terms or to take the largest.

    Returns
    -------
    Tensor
        A scalar, or of the target's shape without a reduction.
    """
    if form not in FORMS:
        raise ValueError(f"form must be 'sum' or 'max'; got {form!r}")

    def exponential(gaps: Tensor) -> Tensor:
        return gaps.exp().sum(1) if form == "sum" else gaps.amax(1).exp()

    return _gap_loss(exponential, logits, target, rho, weight, ignore_index, reduction, group)


def _gap_loss(
    of_gaps: Callable[[Tensor], Tensor],
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    group: Group,
) -> Tensor:
    """Return a loss of ``(h_j - h_y) / rho_y``, which is -inf at the target itself."""
    check_arguments(logits, target, reduction)
    check_margins(rho, logits)
    if weight is not None:
        check_class_vector(weight, "weight", logits)
    without_batch = logits.ndim == 1
    if without_batch:
        logits, target = logits.unsqueeze(0), target.unsqueeze(0)
    h = logits.to(working_dtype(logits.dtype))
    target = target.long()
    indices = class_indices(target, logits.shape[1], ignore_index)
    own = indices.unsqueeze(1)
    slopes = class_values(rho.to(h.dtype).reciprocal(), indices).unsqueeze(1)
    losses = of_gaps(((h - h.gather(1, own)) * slopes).scatter(1, own, -torch.inf))
    losses = losses.masked_fill(target == ignore_index, 0)
    weight = None if weight is None else weight.to(h.dtype)
    call = Call(target, indices, Table(), None, weight, ignore_index, reduction)
    call = call.over_processes(group, h.dtype)
    loss = call.reduced(losses).to(result_dtype(logits))
    return loss.squeeze(0) if without_batch and reduction == "none" else loss


def immax_binary_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    loss: str = "logistic",
    group: Group = None,
) -> Tensor:
    """Return the IMMAX loss of two classes on one logit.

    ``Psi(h / rho_1)`` for a target of 1 and ``Psi(-h / rho_0)`` for 0, with the margins as they
    are given. The logistic loss with ``rho = (1, 1)`` is binary cross-entropy.

    Parameters
    ----------
    logits : Tensor of any shape
        Scores ``h`` of class 1.
    target : Tensor of the logits' shape
        Labels, from 0 to 1.
    rho : Tensor of shape (2,)
        The margins of class 0 and class 1; positive.
    weight : Tensor, optional
        Broadcasts against the losses.
    reduction : {"mean", "sum", "none"}, default="mean"
        The mean is over the elements.
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
        Psi: ``log(1 + e^{-u})``, ``max(0, 1 - u)`` or ``e^{-u}``.
    group : ProcessGroup or "world", optional
        Processes whose elements a mean is over.

    Returns
    -------
    Tensor
        A scalar, or of the logits' shape without a reduction.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong; for a margin the message names the class.
    """
    check_reduction(reduction)
    if loss not in BINARY_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(BINARY_LOSSES)}; got {loss!r}")
    if target.shape != logits.shape:
        raise ValueError(
            f"target must have the logits' shape, {tuple(logits.shape)}; got {tuple(target.shape)}"
        )
    check_margins(rho, logits, 2)
    psi = BINARY_LOSSES[loss]
    h = logits.to(working_dtype(logits.dtype))
    y, (slope_0, slope_1) = target.to(h.dtype), rho.to(h.dtype).reciprocal().unbind()
    losses = y * psi(-h * slope_1) + (1 - y) * psi(h * slope_0)
    if weight is not None:
        losses = losses * weight
    if reduction == "mean" and group is not None:
        n = add_over_processes(losses.numel(), group, losses) / group_size(group)
        losses = losses.sum() / n.to(losses.dtype)
    elif reduction != "none":
        losses = losses.mean() if reduction == "mean" else losses.sum()
    return losses.to(result_dtype(logits))


def _softplus(gap: Tensor) -> Tensor:
    return F.softplus(gap, threshold=1e9)


def _hinge(gap: Tensor) -> Tensor:
    return torch.relu(1 + gap)


BINARY_LOSSES: dict[str, Callable[[Tensor], Tensor]] = {
    "logistic": _softplus,
    "hinge": _hinge,
    "exponential": torch.exp,
}
"""The losses as functions of ``-u``."""
