"""The last layer and the loss as one function that never holds all the logits.

The forward pass goes through the samples block by block: logits, losses, their gradients in the
same memory, and from these the gradients of features, weight and bias. The only other memory is
that of one block.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.losses.spec import LossSpec
from immax.torch.call import Call, Context
from immax.torch.checks import check_arguments, check_class_vector, class_indices
from immax.torch.column_checks import check_margins
from immax.torch.composite import composite_loss
from immax.torch.fused import loss_and_gradient, sample_gradient
from immax.torch.precision import autocast_on, result_dtype, working_dtype
from immax.torch.processes import Group
from immax.torch.routes import Route, choose_route
from immax.torch.table import Table

__all__ = ["linear_immax_loss", "linear_spec_loss"]

BLOCK_ENTRIES = 2**24  # logits of a block


def linear_immax_loss(
    features: Tensor,
    weight: Tensor,
    target: Tensor,
    rho: Tensor,
    bias: Tensor | None = None,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    group: Group = None,
) -> Tensor:
    """Return ``immax_loss(F.linear(features, weight, bias), target, rho)`` in less memory.

    Parameters
    ----------
    features : Tensor of shape (…, d)
        The inputs of the last layer.
    weight : Tensor of shape (C, d)
        The weight of the last layer, as in ``nn.Linear``.
    target : Tensor of int64, shape (…)
        Class numbers.
    rho : Tensor of shape (C,)
        The margins; positive.
    bias : Tensor of shape (C,), optional
        The bias of the last layer.
    class_weight : Tensor of shape (C,), optional
        The ``weight`` of ``immax_loss``.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in cross-entropy.
    group : ProcessGroup or "world", optional
        Processes whose samples a mean is over; see ``IMMAXLoss``.

    Returns
    -------
    Tensor
        A scalar, or of the target's shape without a reduction.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong; for a margin the message names the class.
    IndexError
        If a label is neither a class nor ``ignore_index``.

    Notes
    -----
    Gradients flow to features, weight and bias, not to rho. Under ``torch.compile`` and for
    second derivatives the logits are formed.
    """
    check_margins(rho, weight, weight.shape[0])
    table = Table(temperature=rho.detach())
    return _linear_loss(
        features, weight, target, table, bias, class_weight, ignore_index, reduction, None, group
    )


def linear_spec_loss(
    features: Tensor,
    weight: Tensor,
    target: Tensor,
    spec: LossSpec,
    bias: Tensor | None = None,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    generator: torch.Generator | None = None,
    group: Group = None,
) -> Tensor:
    """Return ``spec_loss(F.linear(features, weight, bias), target, spec)`` in less memory.

    Parameters
    ----------
    features, weight, target, bias, class_weight, ignore_index, reduction, group
        As in ``linear_immax_loss``.
    spec : LossSpec
        The method.
    generator : torch.Generator, optional
        The source of the draws of a spec with a ``drop_rate``; PyTorch's default by default.

    Returns
    -------
    Tensor
        A scalar, or of the target's shape without a reduction.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong.
    IndexError
        If a label is neither a class nor ``ignore_index``.
    """
    if spec.n_classes != weight.shape[0]:
        raise ValueError(f"weight has {weight.shape[0]} classes, the spec {spec.n_classes}")
    table = Table.of(spec, weight.device, working_dtype(weight.dtype))
    return _linear_loss(
        features,
        weight,
        target,
        table,
        bias,
        class_weight,
        ignore_index,
        reduction,
        generator,
        group,
    )


def _linear_loss(
    features: Tensor,
    weight: Tensor,
    target: Tensor,
    table: Table,
    bias: Tensor | None,
    class_weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    generator: torch.Generator | None,
    group: Group,
) -> Tensor:
    if weight.ndim != 2 or features.ndim == 0 or features.shape[-1] != weight.shape[1]:
        raise ValueError(
            "features must have shape (…, d) and weight (C, d); "
            f"got {tuple(features.shape)} and {tuple(weight.shape)}"
        )
    if target.shape != features.shape[:-1]:
        raise ValueError(
            f"target must have shape {tuple(features.shape[:-1])}; got {tuple(target.shape)}"
        )
    shape = target.shape
    features, target = features.reshape(-1, features.shape[-1]), target.reshape(-1)
    check_arguments(weight.new_empty(()).expand(len(features), len(weight)), target, reduction)
    if autocast_on(weight):
        half = torch.get_autocast_dtype(weight.device.type)
        features, weight = features.to(half), weight.to(half)
        bias = bias if bias is None else bias.to(half)
    working = working_dtype(features.dtype)
    if class_weight is not None:
        check_class_vector(class_weight, "class_weight", weight, len(weight))
        class_weight = class_weight.to(working)
    target = target.long()
    call = Call(
        target,
        class_indices(target, len(weight), ignore_index),
        table.to(working),
        table.draw(target, generator),
        class_weight,
        ignore_index,
        reduction,
    ).over_processes(group, working)
    route = choose_route(features, call.table, by_blocks=True)
    if route is Route.COMPOSITE:
        losses = composite_loss(F.linear(features, weight, bias).to(working), call)
    else:
        losses = _LinearLoss.apply(features, weight, bias, call, route, torch.is_grad_enabled())
    losses = losses.to(result_dtype(features))
    return losses.view(shape) if reduction == "none" else losses


Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


class _LinearContext(Context, Protocol):
    gradients: Gradients | None
    route: Route


class _LinearLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: _LinearContext,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        call: Call,
        route: Route,
        training: bool,
    ) -> Tensor:
        call.save(ctx, features, weight, bias)
        ctx.route, ctx.divisor = route, None
        now = training and call.reduction != "none"
        wanted = ctx.needs_input_grad[:3] if now else (False, False, False)
        losses, ctx.gradients = _by_blocks(features, weight, bias, call, route, wanted)
        if call.reduction == "none":
            # The samples' gradients cannot be added before each is multiplied by its factor.
            ctx.gradients = None
            return losses
        if call.reduction == "sum":
            return losses.sum()
        ctx.divisor = call.divisor()
        return losses.sum() / ctx.divisor

    @staticmethod
    def backward(ctx: _LinearContext, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        if torch.is_grad_enabled():
            return *_differentiable_gradients(ctx, upstream), None, None, None
        (features, weight, bias), call = Call.restored(ctx)
        factor = upstream if ctx.divisor is None else sample_gradient(upstream, ctx.divisor)
        if gradients is None:
            wanted, rows = ctx.needs_input_grad[:3], factor.expand(len(features))
            _, gradients = _by_blocks(features, weight, bias, call, ctx.route, wanted, rows)
        else:
            for gradient in gradients:
                if gradient is not None:
                    gradient.mul_(factor.to(gradient.dtype))
        pairs = zip(gradients, (features, weight, bias), strict=True)
        return *(g if g is None else g.to(t.dtype) for g, t in pairs), None, None, None


def _by_blocks(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    call: Call,
    route: Route,
    wanted: tuple[bool, ...],
    row_factor: Tensor | None = None,
) -> tuple[Tensor, Gradients]:
    """Return losses, and the gradients of their sum with the weights ``row_factor``.

    Gradients are in the precision of the computation: sums in half precision would overflow.
    """
    n, c = len(features), len(weight)
    working = working_dtype(features.dtype)
    d_features = (
        torch.zeros(features.shape, dtype=working, device=features.device) if wanted[0] else None
    )
    d_weight = torch.zeros(weight.shape, dtype=working, device=weight.device) if wanted[1] else None
    d_bias = torch.zeros(c, dtype=working, device=weight.device) if wanted[2] else None
    losses = torch.empty(n, dtype=working, device=features.device)
    size = max(1, min(n, BLOCK_ENTRIES // c))
    buffer = torch.empty(size, c, dtype=features.dtype, device=features.device)
    for begin in range(0, n, size):
        rows = slice(begin, begin + size)
        x = features[rows]
        logits = torch.mm(x, weight.T, out=buffer[: len(x)])
        if bias is not None:
            logits += bias
        batch = loss_and_gradient(logits.to(working), call.rows(rows), route, in_place=True)
        losses[rows], gradient = batch.losses, batch.gradient
        if row_factor is not None:
            gradient *= row_factor[rows].unsqueeze(1)
        if d_bias is not None:
            d_bias += gradient.sum(0)
        if d_features is not None:
            torch.mm(gradient, weight.to(working), out=d_features[rows])
        if d_weight is not None:
            d_weight.addmm_(gradient.T, x.to(working))
    return losses, (d_features, d_weight, d_bias)


def _differentiable_gradients(ctx: _LinearContext, upstream: Tensor) -> list[Tensor | None]:
    """Return gradients that can be differentiated again; these need all the logits."""
    inputs, call = Call.restored(ctx)
    wanted = [t for t, need in zip(inputs, ctx.needs_input_grad, strict=False) if need]
    loss = composite_loss(F.linear(*inputs).to(working_dtype(inputs[0].dtype)), call)
    gradients = iter(torch.autograd.grad(loss, wanted, upstream, create_graph=True))
    return [next(gradients) if need else None for need in ctx.needs_input_grad[:3]]
