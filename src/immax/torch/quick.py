"""IMMAX alone, with as few operations as it takes: most losses are this one."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch._C._nn import cross_entropy_loss

from immax.torch.fused import is_batch
from immax.torch.routes import Route
from immax.torch.threads import run_together

__all__ = ["quick_loss"]

REDUCTION_CODES = {"none": 0, "mean": 1, "sum": 2}  # of PyTorch's own function
LEAST_WITH_ALL_DIGITS = 1e-30  # logarithms of lower probabilities come from the scores instead


def quick_loss(
    route: Route, logits: Tensor, target: Tensor, rho: Tensor, reduction: str
) -> Tensor | None:
    """Return the reduced IMMAX loss by one of the quick routes.

    Parameters
    ----------
    route : Route
        That of ``choose_quick_route`` for the other arguments.
    logits, target, rho, reduction
        As in ``immax.torch.functional.immax_loss``.

    Returns
    -------
    Tensor or None
        None if compiled code finds a label that is not a class; the other routes are for labels
        that are known to be classes.
    """
    if route is Route.QUICK_COMPILED:
        return _compiled_mean(logits, target, rho)
    margins = rho.index_select(0, target).view(-1, 1)
    if route is Route.QUICK_FUNCTION:
        return _QuickMean.apply(logits, target, rho, margins.reciprocal_())
    code = REDUCTION_CODES[reduction]
    return cross_entropy_loss(logits / margins, target, None, code, -100, 0.0)  # type: ignore[arg-type]


def _compiled_mean(logits: Tensor, target: Tensor, rho: Tensor) -> Tensor | None:
    """Return the mean loss with its gradient, both computed in one pass."""
    from immax.compiled.softmax_means import MeanJob, mean_worker

    scores = logits.detach().contiguous()
    gradient = torch.empty_like(scores)
    arrays = scores, target.contiguous(), rho.contiguous(), gradient
    job = MeanJob(*scores.shape, *[array.data_ptr() for array in arrays])
    run_together(mean_worker(scores.dtype is torch.float64), job, scores.numel())
    if job.finished < job.n_parts:
        return None
    return _CompiledMean.apply(logits, target, rho, gradient, job.mean)


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
        if of_label.min().item() > LEAST_WITH_ALL_DIGITS:
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
        ctx: _Context, logits: Tensor, target: Tensor, rho: Tensor, gradient: Tensor, mean: float
    ) -> Tensor:
        ctx.save_for_backward(logits, target, rho)
        ctx.gradient = gradient
        return torch.scalar_tensor(mean, dtype=logits.dtype, device=logits.device)

    @staticmethod
    def backward(ctx: _Context, upstream: Tensor) -> tuple[Tensor, None, None, None, None]:
        gradient, ctx.gradient = ctx.gradient, None
        if gradient is None or torch.is_grad_enabled() or is_batch(upstream):
            logits, target, rho = ctx.saved_tensors
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
