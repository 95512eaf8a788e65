"""Loss and gradient of a batch together, in as few passes over the logits as there can be.

The gradient is formed in the forward pass, where the exponentials are at hand. On a CPU with
Numba it is one pass that writes one array; elsewhere it is a handful of PyTorch's operations.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from immax.arrays import Array
from immax.compiled import has_numba
from immax.threads import in_threads
from immax.torch.call import Call, looked_up
from immax.torch.composite import adjusted, composite_loss
from immax.torch.focal import focal_terms

__all__ = ["FewPasses", "few_passes_pay", "loss_and_gradient"]

FEWEST_ENTRIES = 2**17  # below, a Python function in the graph costs more than it saves
FEWEST_OF_MANY_STEPS = 2**13  # the same for methods that take PyTorch many operations
ENTRIES_PER_THREAD = 2**17


def few_passes_pay(logits: Tensor, call: Call, label_smoothing: float) -> bool:
    """Whether to go by this file: large plain matrices in training, outside of transforms."""
    return (
        logits.ndim == 2
        and logits.requires_grad
        and logits.numel() >= (FEWEST_OF_MANY_STEPS if call.table.many_steps else FEWEST_ENTRIES)
        and label_smoothing == 0
        and torch.is_grad_enabled()
        and type(logits) in (Tensor, torch.nn.Parameter)
        and not call.table.requires_grad()
        and (call.weight is None or not call.weight.requires_grad)
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
    )


class Batch(NamedTuple):
    """What comes of a batch. On a CPU the last two are plain numbers."""

    losses: Tensor  # (N,)
    gradient: Tensor  # (N, C)
    total: Tensor | float  # sum of the losses
    counted: Tensor | float  # how many labels were not ignored


def loss_and_gradient(logits: Tensor, call: Call, in_place: bool = False) -> Batch:
    """Losses and their gradients in the logits; ``in_place``, these may take the logits' memory."""
    native = logits.device.type == "cpu" and logits.dtype in (torch.float32, torch.float64)
    if native and has_numba():
        return _compiled(logits, call, in_place)
    return _by_operations(logits, call)


def _by_operations(logits: Tensor, call: Call) -> Batch:
    table, known = call.table, call.known()
    log_p = torch.log_softmax(adjusted(logits, known, call), 1)
    losses = F.nll_loss(log_p, call.target, reduction="none", ignore_index=call.ignore_index)
    gradient = log_p.exp_()
    gradient.scatter_add_(1, known.unsqueeze(1), gradient.new_full((len(known), 1), -1.0))
    counted = call.target != call.ignore_index
    factor = counted.to(logits.dtype)
    if table.focus > 0:
        losses, slope = focal_terms(losses, table.focus)
        factor *= slope
    class_weights = call.class_weights()
    if class_weights is not None:
        weights = looked_up(class_weights, known)
        losses = losses * weights
        factor *= weights
    if table.temperature is not None:
        factor /= looked_up(table.temperature, known)
    gradient.mul_(factor.unsqueeze(1))
    if table.scale is not None:
        gradient.mul_(table.scale)
    return Batch(losses, gradient, losses.sum(), counted.sum())


@lru_cache(maxsize=16)
def _constants(classes: int, dtype: Any) -> tuple[Array, Array, Array]:
    """Columns of ones and of zeros, and an empty mask."""
    return np.ones(classes, dtype), np.zeros(classes, dtype), np.zeros(0, np.bool_)


def _array(values: Tensor | None, default: Array) -> Array:
    if values is None:
        return default
    values = values.detach()
    return (values if values.is_contiguous() else values.contiguous()).numpy()


def _compiled(logits: Tensor, call: Call, in_place: bool) -> Batch:
    from immax.compiled.softmax import softmax_rows

    table = call.table
    n, c = logits.shape
    h = logits.detach()
    h = h if h.is_contiguous() else h.contiguous()
    losses = torch.empty(n, dtype=h.dtype)
    gradient = h if in_place else torch.empty_like(h)
    scores = h.numpy()
    ones, zeros, empty = _constants(c, scores.dtype)
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
    threads = max(1, min(torch.get_num_threads(), n, h.numel() // ENTRIES_PER_THREAD))
    if threads == 1:
        bad, total, counted = softmax_rows(*arguments, 0, n)
    else:
        cuts = [n * k // threads for k in range(threads + 1)]
        parts = in_threads(softmax_rows, [(*arguments, *pair) for pair in pairwise(cuts)])
        bad = max(part[0] for part in parts)
        total, counted = sum(part[1] for part in parts), sum(part[2] for part in parts)
    if bad >= 0:
        raise IndexError("target holds a label that is out of bounds")
    return Batch(losses, gradient, total, counted)


class FewPasses(torch.autograd.Function):
    """The reduced loss, with the gradient formed in the forward pass.

    The first backward pass takes the gradient's memory for its result, so that the loss costs
    one array of the logits' size. A further one, of a retained graph or of a higher order,
    computes anew from the logits.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, call: Call) -> Tensor:
        batch = loss_and_gradient(logits, call)
        ctx.gradient = batch.gradient
        call.save(ctx, logits)
        ctx.divisor = None
        if call.reduction == "none":
            return batch.losses
        if call.reduction == "sum":
            return as_scalar(batch.total, logits)
        ctx.divisor = batch.counted if call.weight is None else call.divisor()
        return mean(batch.total, ctx.divisor, logits)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        gradient, ctx.gradient = ctx.gradient, None
        if gradient is None or torch.is_grad_enabled():
            return _again(ctx, upstream), None
        factor = upstream if ctx.divisor is None else per_sample(upstream, ctx.divisor)
        try:
            gradient.mul_(factor.unsqueeze(1) if factor.ndim else factor)
        except RuntimeError:
            # Upstream is a batch of gradients (is_grads_batched), for which there is no room.
            return _again(ctx, upstream), None
        return gradient, None


def as_scalar(value: Tensor | float, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    return torch.scalar_tensor(value, dtype=like.dtype)


def mean(total: Tensor | float, count: Tensor | float, like: Tensor) -> Tensor:
    """``total / count``; of nothing it is NaN, as in PyTorch."""
    if isinstance(total, Tensor) or isinstance(count, Tensor):
        return (as_scalar(total, like) / count).to(like.dtype)
    return torch.scalar_tensor(total / count if count else np.nan, dtype=like.dtype)


def per_sample(upstream: Tensor, count: Tensor | float) -> Tensor:
    """What a mean's gradient gives each sample; nothing where there is none."""
    if isinstance(count, Tensor):
        return (upstream / torch.where(count == 0, torch.ones_like(count), count)).to(
            upstream.dtype
        )
    return upstream / max(count, 1)


def _again(ctx: Any, upstream: Tensor) -> Tensor:
    """The gradient by differentiable operations."""
    (logits,), call = Call.saved(ctx)
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        h = logits if create_graph else logits.detach().requires_grad_()
        loss = composite_loss(h, call)
        return torch.autograd.grad(loss, h, upstream, create_graph=create_graph)[0]
