"""Class probabilities and decisions from IMMAX logits, on the device and differentiable.

The formulas are those of ``immax.links``, in logarithms throughout.
"""

from __future__ import annotations

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from immax.torch.precision import working_dtype

__all__ = ["decide", "highest_argmax", "immax_proba"]

BLOCK_ENTRIES = 2**24  # of the largest temporary tensor


def immax_proba(logits: Tensor, rho: Tensor, loss: str = "logistic") -> Tensor:
    """Return exact class probabilities.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores.
    rho : Tensor of shape (C,)
        The margins that the model was trained with.
    loss : {"logistic", "exponential"}, default="logistic"
        The loss that the model was trained with, in the sum form.

    Returns
    -------
    Tensor
        Of the logits' shape; probabilities sum to one over the classes.
    """
    if logits.ndim == 1:
        return immax_proba(logits.unsqueeze(0), rho, loss).squeeze(0)
    last = logits.movedim(1, -1)
    shape = last.shape
    rows = last.reshape(-1, shape[-1]).to(working_dtype(logits.dtype))
    margins = rho.to(rows.dtype)
    # Classes that share a margin are one state of the chain.
    inverse, groups = torch.unique(margins.reciprocal(), return_inverse=True)
    size = max(1, BLOCK_ENTRIES // (shape[-1] * len(inverse)))
    parts = [_log_link(part, inverse, groups, loss) for part in torch.split(rows, size)]
    log_q = torch.cat(parts) if parts else rows
    p = torch.softmax(log_q + margins.log(), dim=1)
    return p.view(shape).movedim(-1, 1).to(logits.dtype)


def _log_link(h: Tensor, inverse: Tensor, groups: Tensor, loss: str) -> Tensor:
    """Return ``log q`` of the classes; for the exponential loss plus the logarithm of ``A_kk``."""
    log_rows = torch.log_softmax(h.unsqueeze(1) * inverse.unsqueeze(1), dim=2)  # (n, g, c)
    mass = torch.stack(
        [log_rows[:, :, groups == g].logsumexp(2) for g in range(len(inverse))], dim=2
    )
    log_q = torch.logsumexp(_log_stationary(mass).unsqueeze(2) + log_rows, dim=1)
    if loss == "exponential":
        own = groups.expand(len(h), 1, -1)
        log_q = log_q + log_rows.gather(1, own).squeeze(1)
    return log_q


def _log_stationary(rates: Tensor) -> Tensor:
    """Return log stationary distributions, shape (n, g), by state reduction.

    The algorithm is that of ``immax.links.stationary``, on logarithms.
    """
    g = rates.shape[1]
    into: list[Tensor] = []
    for k in range(g - 1, 0, -1):
        leaving = rates[:, k, :k].logsumexp(1, keepdim=True)
        entering = rates[:, :k, k] - leaving
        into.append(entering)
        through = entering.unsqueeze(2) + rates[:, k, :k].unsqueeze(1)
        rates = torch.logaddexp(rates[:, :k, :k], through)
    state = rates.new_zeros(len(rates), 1)
    for entering in reversed(into):
        following = torch.logsumexp(state + entering, dim=1, keepdim=True)
        state = torch.cat([state, following], dim=1)
    return state.log_softmax(1)


def highest_argmax(values: Tensor) -> Tensor:
    """Return the class of the largest value, the highest class number on a tie.

    Parameters
    ----------
    values : Tensor of shape (N, C, …)
        Classes are along dimension 1.

    Returns
    -------
    Tensor of int64, shape (N, …)
    """
    return values.shape[1] - 1 - values.flip(1).argmax(1)


def decide(proba: Tensor, costs: ArrayLike | Tensor | None = None) -> Tensor:
    """Return the most probable class, or the class of least expected cost.

    Parameters
    ----------
    proba : Tensor of shape (N, C, …)
        Class probabilities, along dimension 1.
    costs : array-like of shape (C,) or (C, C), optional
        The cost of an error on each class, or at (k, j) the cost of predicting j when k is true.

    Returns
    -------
    Tensor of int64, shape (N, …)
        The highest class number on a tie.

    Raises
    ------
    ValueError
        If the costs have another shape.
    """
    if costs is None:
        return highest_argmax(proba)
    c = proba.shape[1]
    matrix = torch.as_tensor(costs, dtype=proba.dtype, device=proba.device)
    if matrix.shape == (c,):
        matrix = matrix.unsqueeze(1) * (1 - torch.eye(c, dtype=proba.dtype, device=proba.device))
    if matrix.shape != (c, c):
        raise ValueError(f"costs must have shape ({c},) or ({c}, {c}); got {tuple(matrix.shape)}")
    expected = torch.tensordot(proba.movedim(1, -1), matrix, dims=1)
    return highest_argmax(-expected.movedim(-1, 1))
