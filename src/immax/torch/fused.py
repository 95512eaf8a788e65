"""Loss and gradient of a batch in one function, with few passes over the logits.

The gradient is formed in the forward pass, which has computed the exponentials already. On a CPU
with Numba this is one pass that writes one array; elsewhere it is a few of PyTorch's operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from immax.arrays import Array
from immax.threads import in_threads
from immax.torch.call import Call, Context, class_values
from immax.torch.composite import adjusted_logits, composite_loss
from immax.torch.focal import focal_terms
from immax.torch.routes import Route
from immax.torch.threads import ENTRIES_PER_PYTHON_THREAD, n_threads

__all__ = [
    "Batch",
    "FusedLoss",
    "is_batch",
    "loss_and_gradient",
    "sample_gradient",
]


class Batch(NamedTuple):
    """Losses and gradients of a batch.

    Attributes
    ----------
    losses : Tensor of shape (N,)
        Weighted losses, zero for ignored samples.
    gradient : Tensor of shape (N, C)
        The gradients of ``losses`` in the logits.
    total : Tensor or float
        The sum of the losses.
    counted : Tensor or float
        How many samples are not ignored.
    """

    losses: Tensor
    gradient: Tensor
    total: Tensor | float
    counted: Tensor | float


def loss_and_gradient(logits: Tensor, call: Call, route: Route, in_place: bool = False) -> Batch:
    """Return losses and their gradients in the logits.

    Parameters
    ----------
    logits : Tensor of shape (N, C)
        Scores in the call's precision.
    call : Call
        The other arguments, validated.
    route : Route
        ``COMPILED`` or ``OPERATIONS``.
    in_place : bool, default=False
        Whether the gradient may take the logits' memory.

    Returns
    -------
    Batch
    """
    if route is Route.COMPILED:
        return _compiled(logits, call, in_place)
    return _by_operations(logits, call)


def _by_operations(logits: Tensor, call: Call) -> Batch:
    table, indices = call.table, call.indices
    log_p = torch.log_softmax(adjusted_logits(logits, call), 1)
    losses = F.nll_loss(log_p, call.target, reduction="none", ignore_index=call.ignore_index)
    gradient = log_p.exp_()
    gradient.scatter_add_(1, indices.unsqueeze(1), gradient.new_full((len(indices), 1), -1.0))
    counted = call.target != call.ignore_index
    factor = counted.to(logits.dtype)
    if table.focus > 0:
        losses, slope = focal_terms(losses, table.focus)
        factor *= slope
    class_weights = call.class_weights()
    if class_weights is not None:
        weights = class_values(class_weights, indices)
        losses = losses * weights
        factor *= weights
    if table.temperature is not None:
        factor /= class_values(table.temperature, indices)
    gradient.mul_(factor.unsqueeze(1))
    if table.scale is not None:
        gradient.mul_(table.scale)
    return Batch(losses, gradient, losses.sum(), counted.sum())


@lru_cache(maxsize=16)
def _constant_columns(n_classes: int, dtype: np.dtype[np.floating]) -> tuple[Array, Array, Array]:
    """Return columns of ones and of zeros, and an empty mask, for the compiled code.

    Parameters
    ----------
    n_classes : int
    dtype : numpy.dtype

    Returns
    -------
    ones, zeros, empty : ndarray
    """
    return np.ones(n_classes, dtype), np.zeros(n_classes, dtype), np.zeros(0, np.bool_)


def _array(values: Tensor | None, default: Array) -> Array:
    if values is None:
        return default
    if values.requires_grad:
        values = values.detach()
    return (values if values.is_contiguous() else values.contiguous()).numpy()


def _compiled(logits: Tensor, call: Call, in_place: bool) -> Batch:
    from immax.compiled.softmax import softmax_rows

    table = call.table
    n, c = logits.shape
    h = logits.detach()
    h = h if h.is_contiguous() else h.contiguous()
    losses = h.new_empty(n)
    gradient = h if in_place else torch.empty_like(h)
    scores = h.numpy()
    ones, zeros, empty = _constant_columns(c, scores.dtype)
    arguments = (
        scores,
        _array(call.target, empty),
        ones if table.temperature is None else 1 / _array(table.temperature, ones),
        _array(table.scale, ones),
        _array(table.offset, zeros),
        _array(table.target_offset, zeros),
        _array(call.class_weights(), ones),
        table.scale is None and table.offset is None,
        table.focus,
        _array(call.drop, empty),
        _array(table.droppable, empty),
        call.ignore_index,
        losses.numpy(),
        gradient.numpy(),
    )
    total, counted = _run_rows(softmax_rows, arguments, n, h.numel())
    return Batch(losses, gradient, total, counted)


def _run_rows(
    kernel: Callable[..., tuple[int, float, int]],
    arguments: tuple[object, ...],
    n: int,
    n_entries: int,
) -> tuple[float, int]:
    """Run a kernel over all rows, in threads if there are many entries.

    Parameters
    ----------
    kernel : callable
        ``softmax_rows``.
    arguments : tuple
        All but the range of rows.
    n, n_entries : int
        The number of rows and of logits.

    Returns
    -------
    total : float
        The sum of the losses.
    counted : int
        The number of samples that are not ignored.
    """
    threads = min(max(n, 1), n_threads(n_entries, ENTRIES_PER_PYTHON_THREAD))
    if threads == 1:
        _, total, counted = kernel(*arguments, 0, n)
        return total, counted
    cuts = [n * k // threads for k in range(threads + 1)]
    parts = in_threads(kernel, [(*arguments, *pair) for pair in pairwise(cuts)])
    return sum(part[1] for part in parts), sum(part[2] for part in parts)


class _FusedContext(Context, Protocol):
    gradient: Tensor | None


class FusedLoss(torch.autograd.Function):
    """The reduced loss, with the gradient formed in the forward pass.

    The first backward pass takes the gradient's memory for its result, so that the loss costs
    one array of the logits' size. Another one, of a retained graph or of a higher order, computes
    the gradient again from the logits.
    """

    @staticmethod
    def forward(ctx: _FusedContext, logits: Tensor, call: Call, route: Route) -> Tensor:
        """Return the reduced loss, and keep its gradient.

        Parameters
        ----------
        ctx : Context
            The context of the autograd function.
        logits : Tensor of shape (N, C, …)
            Scores.
        call : Call
            Labels, table and reduction.
        route : Route
            How to compute the loss.

        Returns
        -------
        Tensor
            A scalar, or of the target's shape without a reduction.
        """
        batch = loss_and_gradient(logits, call, route)
        ctx.gradient = batch.gradient
        call.save(ctx, logits)
        ctx.divisor = None
        if call.reduction == "none":
            return batch.losses
        if call.reduction == "sum":
            return _as_scalar(batch.total, logits)
        own_count = call.weight is None and call.shared_divisor is None
        ctx.divisor = batch.counted if own_count else call.divisor()
        return _mean(batch.total, ctx.divisor, logits)

    @staticmethod
    def backward(ctx: _FusedContext, upstream: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient in the logits.

        Parameters
        ----------
        ctx : Context
            The context of the autograd function.
        upstream : Tensor
            The gradient of the result.

        Returns
        -------
        tuple of Tensor, None and None
            A gradient for each argument of ``forward``.
        """
        gradient, ctx.gradient = ctx.gradient, None
        # A batch of upstream gradients does not fit into the gradient's memory.
        if gradient is None or torch.is_grad_enabled() or is_batch(upstream):
            return _recomputed_gradient(ctx, upstream), None, None
        factor = upstream if ctx.divisor is None else sample_gradient(upstream, ctx.divisor)
        gradient.mul_(factor.unsqueeze(1) if factor.ndim else factor)
        return gradient, None, None


def is_batch(upstream: Tensor) -> bool:
    """Return whether a backward pass runs under ``vmap`` or with ``is_grads_batched``.

    Parameters
    ----------
    upstream : Tensor
        The gradient in the loss.

    Returns
    -------
    bool
    """
    functorch = torch._C._functorch
    return functorch.is_batchedtensor(upstream) or functorch.is_legacy_batchedtensor(upstream)


def _as_scalar(value: Tensor | float, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    return torch.scalar_tensor(value, dtype=like.dtype, device=like.device)


def _mean(total: Tensor | float, count: Tensor | float, like: Tensor) -> Tensor:
    """Return ``total / count``; NaN if nothing counts, as in PyTorch."""
    if isinstance(total, Tensor) or isinstance(count, Tensor):
        return (_as_scalar(total, like) / count).to(like.dtype)
    return _as_scalar(total / count if count else np.nan, like)


def sample_gradient(upstream: Tensor, divisor: Tensor | float) -> Tensor:
    """Return the gradient of a mean in each of its terms.

    Parameters
    ----------
    upstream : Tensor
        The gradient in the mean.
    divisor : Tensor or float
        What the mean divides by; zero gives a gradient that is finite, for terms that are zero.

    Returns
    -------
    Tensor
    """
    if isinstance(divisor, Tensor):
        safe = torch.where(divisor == 0, torch.ones_like(divisor), divisor)
        return (upstream / safe).to(upstream.dtype)
    return upstream / max(divisor, 1)


def _recomputed_gradient(ctx: _FusedContext, upstream: Tensor) -> Tensor:
    """Return the gradient by differentiable operations."""
    (logits,), call = Call.restored(ctx)
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        h = logits if create_graph else logits.detach().requires_grad_()
        loss = composite_loss(h, call)
        return torch.autograd.grad(loss, h, upstream, create_graph=create_graph)[0]
