"""IMMAX alone, with as few operations and checks as it takes: most losses are this one.

Margins that are known to be valid need no further check, and labels are checked by the operations
that use them.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch._C._nn import cross_entropy_loss

from immax.compiled import has_numba
from immax.threads import in_threads
from immax.torch.checks import PLAIN_TENSORS, is_traced
from immax.torch.column_checks import known_to_be_valid
from immax.torch.fused import is_batch, n_threads

__all__ = ["quick_loss"]

REDUCTION_CODES = {"none": 0, "mean": 1, "sum": 2}  # of PyTorch's own function
MEAN = REDUCTION_CODES["mean"]
MOST_ENTRIES = 2**20  # above, checks take no time compared with the loss
FEWEST_ENTRIES = 3 * 2**16  # below, a Python function in the graph costs more than it saves
FEWEST_COMPILED = 2**13  # below, compiled code saves too little to be worth its compilation
IN_PARALLEL = range(2**15, 2**18)  # entries of which many threads of PyTorch make short work
FEW_THREADS = 2  # for which one of compiled code is quicker
SMALLEST = 1e-30  # probabilities below lose digits in single precision


def quick_loss(
    logits: Tensor, target: Tensor, rho: Tensor, ignore_index: int, reduction: str
) -> Tensor | None:
    """Return the reduced IMMAX loss in the most frequent case, and None in any other.

    That is a matrix of logits on a CPU in the margins' precision, labels that are all classes,
    margins that were checked before and are not all one, and no compiler or transform at work.

    Parameters
    ----------
    logits, target, rho, ignore_index, reduction
        As in ``immax.torch.functional.immax_loss``; nothing of them has been checked.

    Returns
    -------
    Tensor or None
    """
    if is_traced():
        return None
    shape = logits.shape
    if (
        len(shape) != 2
        or logits.dtype is not rho.dtype
        or not logits.is_cpu
        or type(logits) not in PLAIN_TENSORS
        or target.dtype is not torch.int64
        or target.shape != shape[:1]
        or not known_to_be_valid(rho, shape[1])
    ):
        return None
    entries = shape[0] * shape[1]
    code = REDUCTION_CODES.get(reduction)
    if not 0 < entries <= MOST_ENTRIES or code is None or 0 <= ignore_index < shape[1]:
        return None
    wants_gradient = code == MEAN and logits.requires_grad and torch.is_grad_enabled()
    in_parallel = entries in IN_PARALLEL and torch.get_num_threads() > FEW_THREADS
    if wants_gradient and entries >= FEWEST_COMPILED and not in_parallel and has_numba():
        return _compiled_mean(logits, target, rho)
    try:
        slopes = rho.view(-1, 1).index_select(0, target).reciprocal_()
    except IndexError:  # a label to be ignored, or one that is out of bounds
        return None
    if entries >= FEWEST_ENTRIES and wants_gradient:
        return _QuickMean.apply(logits, target, rho, slopes)
    return cross_entropy_loss(logits * slopes, target, None, code, -100, 0.0)  # type: ignore[arg-type]


def _compiled_mean(logits: Tensor, target: Tensor, rho: Tensor) -> Tensor | None:
    """Return the mean loss with its gradient, both computed in one pass; None for odd labels."""
    from immax.compiled.softmax import are_classes
    from immax.compiled.softmax_means import mean_softmax

    labels, n = target.numpy(), len(target)
    scores = logits.detach().contiguous()
    h = scores.numpy()
    if not are_classes(labels, h.shape[1]):
        return None
    gradient = torch.empty_like(scores)
    slopes, g = 1 / rho.numpy(), gradient.numpy()
    threads = n_threads(n, h.size)
    if threads == 1:
        mean = mean_softmax(h, labels, slopes, 1 / n, g)
    else:
        ranges = [slice(n * k // threads, n * (k + 1) // threads) for k in range(threads)]
        parts = [(h[rows], labels[rows], slopes, 1 / n, g[rows]) for rows in ranges]
        mean = sum(in_threads(mean_softmax, parts))
    return _CompiledMean.apply(logits, target, rho, gradient, mean)


class _Context(Protocol):
    gradient: Tensor | None
    saved_tensors: tuple[Tensor, ...]

    def save_for_backward(self, *tensors: Tensor) -> None: ...


class _QuickMean(torch.autograd.Function):
    """The mean loss; the softmax of the forward pass becomes the gradient in its own memory."""

    @staticmethod
    def forward(
        ctx: _Context, logits: Tensor, target: Tensor, rho: Tensor, slopes: Tensor
    ) -> Tensor:
        scaled = logits * slopes
        p = torch.softmax(scaled, 1)
        own = target.view(-1, 1)
        of_label = p.gather(1, own)
        ctx.save_for_backward(logits, target, rho, slopes)
        ctx.gradient = p
        if of_label.min().item() > SMALLEST:
            return of_label.log_().mean().neg_()
        return F.cross_entropy(scaled, target)

    @staticmethod
    def backward(ctx: _Context, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        logits, target, rho, slopes = ctx.saved_tensors
        p, ctx.gradient = ctx.gradient, None
        if p is None or torch.is_grad_enabled() or is_batch(upstream):
            return _differentiable_gradient(logits, target, rho, upstream), None, None, None
        own = target.view(-1, 1)
        p.scatter_add_(1, own, p.new_full((1, 1), -1.0).expand_as(own))
        return p.mul_(slopes * (upstream / len(target))), None, None, None


class _CompiledMean(torch.autograd.Function):
    """The mean loss, whose gradient is known already."""

    @staticmethod
    def forward(
        ctx: _Context,
        logits: Tensor,
        target: Tensor,
        rho: Tensor,
        gradient: Tensor,
        value: float,
    ) -> Tensor:
        ctx.save_for_backward(logits, target, rho)
        ctx.gradient = gradient
        return torch.scalar_tensor(value, dtype=logits.dtype)

    @staticmethod
    def backward(ctx: _Context, upstream: Tensor) -> tuple[Tensor, None, None, None, None]:
        logits, target, rho = ctx.saved_tensors
        gradient, ctx.gradient = ctx.gradient, None
        if gradient is None or torch.is_grad_enabled() or is_batch(upstream):
            found = _differentiable_gradient(logits, target, rho, upstream)
        else:
            factor = upstream.item()
            found = gradient if factor == 1 else gradient.mul_(factor)
        return found, None, None, None, None


def _differentiable_gradient(
    logits: Tensor, target: Tensor, rho: Tensor, upstream: Tensor
) -> Tensor:
    """Return the gradient of a retained graph, of a batch of them, or of a higher order."""
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        h = logits if create_graph else logits.detach().requires_grad_()
        loss = F.cross_entropy(h / rho.index_select(0, target).unsqueeze(1), target)
        return torch.autograd.grad(loss, h, upstream, create_graph=create_graph)[0]
