"""The losses as functions, with the arguments of ``torch.nn.functional.cross_entropy``."""

from __future__ import annotations

import torch
from torch import Tensor

from immax.losses.spec import LossSpec
from immax.torch import few_passes
from immax.torch.call import Call
from immax.torch.checks import (
    check_arguments,
    check_class_vector,
    check_classes,
    check_margins,
    explain_range,
    readable,
)
from immax.torch.composite import composite_loss
from immax.torch.few_passes import FewPasses, few_passes_pay
from immax.torch.precision import result_dtype, working_dtype
from immax.torch.table import Table

__all__ = ["immax_loss", "spec_loss", "table_loss"]


def immax_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Logistic IMMAX: ``log sum_j exp((h_j - h_y) / rho_y)``.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
    target : Tensor of int64, shape (), (N,) or (N, d1, …)
        Class numbers.
    rho : Tensor of shape (C,)
        The margins; positive. May require a gradient.
    weight : Tensor of shape (C,), optional
        As in cross-entropy: multiplies the losses, and the mean is divided by its sum.
    ignore_index : int, default=-100
    reduction : {"mean", "sum", "none"}
    label_smoothing : float, default=0.0
        As in cross-entropy, of the logits divided by the target's margin.

    References
    ----------
    *Balancing the Scales*, section "Algorithms"; equal margins of one are cross-entropy.

    Examples
    --------
    >>> logits, target = torch.tensor([[0.0, 1.0]]), torch.tensor([1])
    >>> loss = immax_loss(logits, target, torch.tensor([1.0, 0.5]))  # log(1 + e^-2)
    >>> round(loss.item(), 4)
    0.1269
    """
    check_arguments(logits, target, reduction, label_smoothing)
    check_margins(rho, logits)
    table = Table(temperature=rho)
    return table_loss(logits, target, table, weight, ignore_index, reduction, label_smoothing)


def spec_loss(
    logits: Tensor,
    target: Tensor,
    spec: LossSpec,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The loss of any method of the catalogue.

    The mean is over samples: a method's own class weights do not enter its divisor, a
    ``weight`` that is given does, as in cross-entropy. ``generator`` seeds the draws of a spec
    with a ``drop_rate``. The spec's table is made anew at each call; in a training loop
    ``immax.torch.SpecLoss`` keeps it.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> logits, target = torch.zeros(1, 2), torch.tensor([1])
    >>> spec_loss(logits, target, catalog.bs([75, 25])).item()  # log 4
    1.3862943649291992
    """
    check_arguments(logits, target, reduction, label_smoothing)
    check_classes(logits, spec.n_classes)
    table = Table.of(spec, logits.device, working_dtype(logits.dtype))
    return table_loss(
        logits, target, table, weight, ignore_index, reduction, label_smoothing, generator
    )


def _ordinary(logits: Tensor, target: Tensor, table: Table) -> bool:
    """Whether this is a small batch on a CPU that is what it should be at first sight."""
    column = table.column()
    dtype = logits.dtype
    return (
        readable(logits)
        and logits.ndim == 2
        and target.ndim == 1
        and target.shape[0] == logits.shape[0]
        and target.dtype is torch.int64
        and (dtype is torch.float32 or dtype is torch.float64)
        and (column is None or (column.dtype is dtype and column.shape[0] == logits.shape[1]))
        and logits.numel() < few_passes.FEWEST_ENTRIES
        and not table.many_steps
        and not torch.is_autocast_enabled("cpu")
    )


def table_loss(
    logits: Tensor,
    target: Tensor,
    table: Table,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The one way into the kernels: check, bring to one shape and precision, choose."""
    if weight is None and label_smoothing == 0 and _ordinary(logits, target, table):
        # For small batches a dozen checks take as long as the loss; on a failure they follow.
        try:
            call = Call(target, table, None, None, ignore_index, reduction)
            return composite_loss(logits, call, hopeful=True)
        except (IndexError, RuntimeError, ValueError):
            pass
    check_arguments(logits, target, reduction, label_smoothing)
    column = table.column()
    if column is not None:
        check_class_vector(column, "rho", logits)
    if weight is not None:
        check_class_vector(weight, "weight", logits)
    if label_smoothing and table.many_steps:
        raise ValueError("label_smoothing does not go with a focal exponent or dropped classes")
    if logits.ndim == 1:
        loss = table_loss(
            logits.unsqueeze(0),
            target.unsqueeze(0),
            table,
            weight,
            ignore_index,
            reduction,
            label_smoothing,
            generator,
        )
        return loss.squeeze(0) if reduction == "none" else loss
    working, result = working_dtype(logits.dtype), result_dtype(logits)
    # Small batches notice even casts that change nothing.
    if logits.dtype != working:
        logits = logits.to(working)
    if target.dtype != torch.int64:
        target = target.long()
    call = Call(
        target,
        table.to(working),
        table.draw(target, generator),
        None if weight is None else weight.to(working),
        ignore_index,
        reduction,
    )
    if torch.compiler.is_compiling():
        return composite_loss(logits, call, label_smoothing).to(result)
    may_fail = readable(logits)
    try:
        if few_passes_pay(logits, call, label_smoothing):
            loss = FewPasses.apply(logits, call)
        else:
            loss = composite_loss(logits, call, label_smoothing, hopeful=may_fail)
    except (IndexError, RuntimeError):
        if not may_fail:
            raise
        explain_range(target, logits.shape[1], ignore_index)
        # Labels to be ignored had been looked up.
        loss = composite_loss(logits, call, label_smoothing)
    return loss if loss.dtype == result else loss.to(result)
