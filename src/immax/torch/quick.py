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

from immax.torch.checks import PLAIN_TENSORS, is_traced
from immax.torch.column_checks import known_to_be_valid
from immax.torch.fused import is_batch

__all__ = ["quick_loss"]

REDUCTION_CODES = {"none": 0, "mean": 1, "sum": 2}  # of PyTorch's own function
MEAN = REDUCTION_CODES["mean"]
MOST_ENTRIES = 2**20  # above, the compiled code saves memory
FEWEST_ENTRIES = 3 * 2**16  # below, a Python function in the graph costs more than it saves
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
    try:
        slopes = rho.view(-1, 1).index_select(0, target).reciprocal_()
    except IndexError:  # a label to be ignored, or one that is out of bounds
        return None
    if entries >= FEWEST_ENTRIES and code == MEAN and logits.requires_grad:
        return _QuickMean.apply(logits, target, rho, slopes)
    return cross_entropy_loss(logits * slopes, target, None, code, -100, 0.0)  # type: ignore[arg-type]


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


def _differentiable_gradient(
    logits: Tensor, target: Tensor, rho: Tensor, upstream: Tensor
) -> Tensor:
    """Return the gradient of a retained graph, of a batch of them, or of a higher order."""
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        h = logits if create_graph else logits.detach().requires_grad_()
        loss = F.cross_entropy(h / rho.index_select(0, target).unsqueeze(1), target)
        return torch.autograd.grad(loss, h, upstream, create_graph=create_graph)[0]
