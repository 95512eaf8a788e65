"""IMMAX on logits whose classes are spread over processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch
import torch.distributed as dist
from torch import Tensor

from immax.torch.call import Call
from immax.torch.checks import check_class_numbers, check_reduction, class_indices, is_readable
from immax.torch.column_checks import check_margins
from immax.torch.precision import result_dtype, working_dtype
from immax.torch.processes import process_group
from immax.torch.table import Table

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

__all__ = ["vocab_parallel_immax_loss"]


def vocab_parallel_immax_loss(
    logits: Tensor,
    target: Tensor,
    rho: Tensor,
    first_class: int | None = None,
    group: ProcessGroup | Literal["world"] = "world",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Return the IMMAX loss of logits that are sharded by class, without gathering them.

    Every process has some columns of the logits and all the labels, as in tensor-parallel
    training. Three numbers per sample are communicated; the gradient needs no communication.

    Parameters
    ----------
    logits : Tensor of shape (…, C / P), the classes last
        The scores of this process's classes. Classes are in the order of the ranks.
    target : Tensor of int64, shape (…)
        Class numbers, the same in every process.
    rho : Tensor of shape (C,)
        The margins of all classes; positive.
    first_class : int, optional
        The number of this process's first class; by default every process has as many classes.
    group : ProcessGroup or "world", default="world"
        The processes among which the classes are divided.
    weight : Tensor of shape (C,), optional
        As in cross-entropy: multiplies the losses, and the mean is divided by its sum.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in cross-entropy.

    Returns
    -------
    Tensor
        The same in every process: a scalar, or of the target's shape without a reduction.

    Raises
    ------
    RuntimeError
        If there are no processes.
    TypeError, ValueError
        If an argument is wrong; for a margin the message names the class.
    IndexError
        If a label is neither a class nor ``ignore_index``.
    """
    check_reduction(reduction)
    check_class_numbers(target)
    if target.shape != logits.shape[:-1]:
        raise ValueError(
            f"target must have shape {tuple(logits.shape[:-1])} to go with logits of shape "
            f"{tuple(logits.shape)}, whose classes are last; got {tuple(target.shape)}"
        )
    processes = process_group(group)
    check_margins(rho, logits, len(rho))
    columns = logits.shape[-1]
    first = dist.get_rank(processes) * columns if first_class is None else first_class
    if not 0 <= first <= len(rho) - columns:
        raise ValueError(
            f"classes {first} to {first + columns - 1} of this process are not among the "
            f"{len(rho)} classes of rho; give first_class if processes have different numbers"
        )
    labels = target.reshape(-1).long()
    if is_readable(labels):
        indices = class_indices(labels, len(rho), ignore_index)
    else:  # the lookup of margins reports a label that is out of bounds
        indices = labels.masked_fill(labels == ignore_index, 0)
    rows = logits.reshape(-1, columns)
    rows = rows.to(working_dtype(logits.dtype))
    slopes = rho.to(rows.dtype).reciprocal().index_select(0, indices).unsqueeze(1)
    nll = _ShardedNLL.apply(rows * slopes, indices - first, processes)
    nll = nll.masked_fill(labels == ignore_index, 0)
    weights = None if weight is None else weight.to(rows.dtype)
    call = Call(labels, indices, Table(), None, weights, ignore_index, reduction)
    loss = call.reduced(nll).to(result_dtype(logits))
    return loss.view(target.shape) if reduction == "none" else loss


class _ShardedNLL(torch.autograd.Function):
    """The logarithm of the sum of exponentials over all processes, less the label's score."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, place: Tensor, group: ProcessGroup | None) -> Tensor:
        top = z.amax(1)
        dist.all_reduce(top, dist.ReduceOp.MAX, group=group)
        is_here = (place >= 0) & (place < z.shape[1])
        column = place.where(is_here, 0).unsqueeze(1)
        exponentials = (z - top.unsqueeze(1)).exp_()
        own = z.gather(1, column).squeeze(1).where(is_here, 0)
        sums = torch.stack([exponentials.sum(1), own])
        dist.all_reduce(sums, group=group)
        ctx.save_for_backward(exponentials.div_(sums[0].unsqueeze(1)), column, is_here)
        return sums[0].log() + top - sums[1]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        p, column, is_here = ctx.saved_tensors
        gradient = p.scatter_add(1, column, -is_here.to(p.dtype).unsqueeze(1))
        return gradient * upstream.unsqueeze(1), None, None
