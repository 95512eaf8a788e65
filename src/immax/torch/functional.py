"""The losses as functions, with the arguments of ``torch.nn.functional.cross_entropy``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from immax.losses.spec import LossSpec
from immax.torch.call import Call
from immax.torch.checks import (
    check_arguments,
    check_class_vector,
    check_classes,
    class_indices,
    is_traced,
)
from immax.torch.column_checks import check_table
from immax.torch.composite import composite_loss
from immax.torch.fused import FusedLoss
from immax.torch.precision import result_dtype, working_dtype
from immax.torch.processes import Group, add_over_processes, group_size
from immax.torch.routes import Route, choose_route
from immax.torch.soft_targets import SoftCall, soft_target_loss
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
    group: Group = None,
) -> Tensor:
    """Return the logistic IMMAX loss, ``log sum_j exp((h_j - h_y) / rho_y)``.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores ``h``.
    target : Tensor of int64, shape (), (N,) or (N, d1, …); or of the logits' shape
        Class numbers ``y``; or, in floating point, class probabilities ``t``, whose loss is the
        expected one, ``sum_k t_k L(h, k)``, as in cross-entropy.
    rho : Tensor of shape (C,)
        The margins; positive. May require a gradient.
    weight : Tensor of shape (C,), optional
        As in cross-entropy: multiplies the losses, and the mean is divided by its sum.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in cross-entropy.
    label_smoothing : float, default=0.0
        As in cross-entropy, of the logits divided by the target's margin.
    group : ProcessGroup or "world", optional
        Processes whose samples a mean is over; see ``IMMAXLoss``.

    Returns
    -------
    Tensor
        A scalar, or one loss per sample without a reduction.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong; for a margin the message names the class.
    IndexError
        If a label is neither a class nor ``ignore_index``.

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
    return table_loss(
        logits,
        target,
        Table(rho),
        weight,
        ignore_index,
        reduction,
        label_smoothing,
        temperature_name="rho",
        group=group,
    )


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
    """Return the loss of any method of the catalogue.

    The mean is over samples: a method's own class weights do not enter its divisor, a
    ``weight`` that is given does, as in cross-entropy.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores.
    target : Tensor of int64, shape (), (N,) or (N, d1, …); or of the logits' shape
        Class numbers or class probabilities, as in ``immax_loss``.
    spec : LossSpec
        The method. Its tensors are made in each call; ``immax.torch.SpecLoss`` keeps them.
    weight, ignore_index, reduction, label_smoothing
        As in ``immax_loss``; no label smoothing with a focal exponent or a ``drop_rate``.
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

    Examples
    --------
    >>> from immax.losses import catalog
    >>> logits, target = torch.zeros(1, 2), torch.tensor([1])
    >>> spec_loss(logits, target, catalog.bs([75, 25])).item()  # log 4
    1.3862943649291992
    """
    check_arguments(logits, target, reduction, label_smoothing, soft=True)
    check_classes(logits, spec.n_classes)
    table = Table.of(spec, logits.device, working_dtype(logits.dtype))
    return table_loss(
        logits, target, table, weight, ignore_index, reduction, label_smoothing, generator
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
    temperature_name: str = "temperature",
    group: Group = None,
) -> Tensor:
    """Return the loss of a table of per-class tensors.

    Every loss that is a ``LossSpec`` comes through here. Arguments are validated once, brought to
    one precision, and given to the code that ``immax.torch.routes`` chooses.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores.
    target : Tensor of int64, shape (), (N,) or (N, d1, …); or of the logits' shape
        Class numbers or class probabilities, as in ``immax_loss``.
    table : Table
        The columns of the method.
    weight : Tensor of shape (C,), optional
        As in cross-entropy: multiplies the losses, and the mean is divided by its sum.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in cross-entropy.
    label_smoothing : float, default=0.0
        As in cross-entropy; not with a focal exponent or dropped classes.
    generator : torch.Generator, optional
        The source of the draws of a table with droppable classes.
    temperature_name : str, default="temperature"
        What error messages call that column.
    group : ProcessGroup or "world", optional
        Processes whose samples a mean is over; see ``IMMAXLoss``.

    Returns
    -------
    Tensor
        A scalar, or of the target's shape without a reduction.

    Raises
    ------
    TypeError, ValueError
        If an argument or a column of the table is wrong; the message names the column and the
        class.
    IndexError
        If a label is neither a class nor ``ignore_index``.
    """
    check_arguments(logits, target, reduction, label_smoothing, soft=True)
    traced = is_traced()
    unit_margins = check_table(table, logits, None, temperature_name, traced)
    if weight is not None:
        check_class_vector(weight, "weight", logits)
    if label_smoothing and table.drops_or_focuses:
        raise ValueError("label_smoothing cannot be combined with a focal exponent or drop_rate")
    without_batch = logits.ndim == 1
    if without_batch:
        logits, target = logits.unsqueeze(0), target.unsqueeze(0)
    if target.is_floating_point():
        loss = _soft_loss(
            logits,
            target,
            table,
            weight,
            reduction,
            label_smoothing,
            generator,
            unit_margins=unit_margins,
            group=group,
        )
        return loss.squeeze(0) if without_batch and reduction == "none" else loss
    # Small batches notice even conversions that change nothing.
    if target.dtype is not torch.int64:
        target = target.long()
    dtype = logits.dtype
    if dtype is torch.float32 or dtype is torch.float64:
        working = result = dtype
        scores = logits
    else:
        working, result = working_dtype(dtype), result_dtype(logits)
        scores = logits.to(working)
    route = choose_route(
        scores, table, weight, label_smoothing, unit_margins=unit_margins, traced=traced
    )
    composite = route is Route.COMPOSITE
    # Where labels only go to F.cross_entropy, it checks them, without another pass over them.
    indices = target
    if traced or group is not None or (table.looks_up_labels if composite else not unit_margins):
        indices = class_indices(target, logits.shape[1], ignore_index, traced)
    try:
        if unit_margins and not composite and group is None:
            # On the logits as they are, so that results are equal to the last bit.
            loss = F.cross_entropy(
                logits,
                target,
                None if weight is None else weight.to(result),
                ignore_index=ignore_index,
                reduction=reduction,
                label_smoothing=label_smoothing,
            )
        else:
            drop = None if table.droppable is None else table.draw(target, generator)
            weights = None if weight is None else weight.to(working)
            call = Call(target, indices, table.to(working), drop, weights, ignore_index, reduction)
            if group is not None:
                call = call.over_processes(group, working)
            if composite or unit_margins:
                loss = composite_loss(scores, call, label_smoothing)
            else:
                loss = FusedLoss.apply(scores, call, route)
    except IndexError:
        class_indices(target, logits.shape[1], ignore_index, traced)  # names the label
        raise
    if loss.dtype is not result:
        loss = loss.to(result)
    return loss.squeeze(0) if without_batch and reduction == "none" else loss


def _soft_loss(
    logits: Tensor,
    target: Tensor,
    table: Table,
    weight: Tensor | None,
    reduction: str,
    label_smoothing: float,
    generator: torch.Generator | None,
    *,
    unit_margins: bool,
    group: Group,
) -> Tensor:
    """Return the loss of validated class probabilities, along dimension 1."""
    if unit_margins and group is None:
        return F.cross_entropy(
            logits,
            target.to(logits.dtype),
            None if weight is None else weight.to(logits.dtype),
            reduction=reduction,
            label_smoothing=label_smoothing,
        )
    working = working_dtype(logits.dtype)
    labels = logits.select(1, 0)  # of the shape that class numbers would have
    call = SoftCall(
        target.to(working),
        table.to(working),
        None if table.droppable is None else table.draw(labels, generator),
        None if weight is None else weight.to(working),
        reduction,
        label_smoothing,
    )
    divisor = None
    if group is not None and reduction == "mean":
        n = add_over_processes(labels.numel(), group, logits)
        divisor = (n / group_size(group)).to(working)
    return soft_target_loss(logits.to(working), call, divisor).to(result_dtype(logits))
