"""The arguments of one evaluation of a loss, other than the logits."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from immax.torch.processes import Group, add_over_processes, group_size
from immax.torch.table import COLUMNS, Table

__all__ = ["Call", "Context", "class_values"]


def class_values(column: Tensor, indices: Tensor) -> Tensor:
    """Return the entries of a per-class column for each sample.

    Parameters
    ----------
    column : Tensor of shape (C,)
        One value per class.
    indices : Tensor of int64, of any shape
        Class numbers.

    Returns
    -------
    Tensor
        Of the shape of ``indices``.
    """
    return column.index_select(0, indices) if indices.ndim == 1 else column[indices]


class Context(Protocol):
    """The ``ctx`` of an autograd function that keeps a Call for its backward pass."""

    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]
    options: tuple[float, float, int, str, Tensor | None]
    divisor: Tensor | float | None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for the backward pass.

        Parameters
        ----------
        *tensors : Tensor or None
            They become ``saved_tensors``.
        """


class Call(NamedTuple):
    """Labels, the method's table, its random draws, class weights, and the reduction.

    All floating-point tensors have one precision.

    Attributes
    ----------
    target : Tensor of int64, shape (N, …)
        The labels.
    indices : Tensor of int64, shape (N, …)
        The labels with class 0 in place of ``ignore_index``, so that they can index a column;
        ``target`` itself only if no label is to be ignored.
    table : Table
        The method.
    drop : Tensor of bool, shape (N, …), or None
        Whether a sample leaves the droppable classes out.
    weight : Tensor of shape (C,), or None
        The caller's class weights.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in cross-entropy.
    shared_divisor : Tensor, or None
        The divisor of a mean over several processes, if there are several.
    """

    target: Tensor
    indices: Tensor
    table: Table
    drop: Tensor | None = None
    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"
    shared_divisor: Tensor | None = None

    def class_weights(self) -> Tensor | None:
        """Return the product of the method's and the caller's class weights.

        Returns
        -------
        Tensor of shape (C,), or None
            None if there are neither.
        """
        if self.weight is None or self.table.weight is None:
            return self.table.weight if self.weight is None else self.weight
        return self.weight * self.table.weight

    def divisor(self) -> Tensor | int:
        """Return the divisor of a mean: how many samples count, or the sum of their weights.

        Only the caller's weights enter, not the method's.

        Returns
        -------
        Tensor or int
            ``shared_divisor`` if there is one, else that of this process.
        """
        return self.own_divisor() if self.shared_divisor is None else self.shared_divisor

    def own_divisor(self) -> Tensor | int:
        """Return the divisor of a mean over the samples of this process.

        Returns
        -------
        Tensor or int
        """
        if self.indices is self.target and self.weight is None:  # no label is to be ignored
            return self.target.numel()
        counted = self.target != self.ignore_index
        if self.weight is None:
            return counted.sum()
        return (class_values(self.weight, self.indices) * counted).sum()

    def reduced(self, losses: Tensor) -> Tensor:
        """Weight and reduce losses.

        Parameters
        ----------
        losses : Tensor of shape (N, …)
            The loss of each sample, zero for those that are ignored.

        Returns
        -------
        Tensor
            A scalar, or of the shape of the losses without a reduction.
        """
        weights = self.class_weights()
        if weights is not None:
            losses = losses * class_values(weights, self.indices)
        if self.reduction == "none":
            return losses
        total = losses.sum()
        return total if self.reduction == "sum" else total / self.divisor()

    def over_processes(self, group: Group, dtype: torch.dtype) -> Call:
        """Return the call whose mean is over the samples of all processes of a group.

        Frameworks average gradients over processes, so the divisor is the sum over processes
        divided by their number. It is the same in the backward pass, without communication.

        Parameters
        ----------
        group : ProcessGroup, "world" or None
            The processes; None for this one alone.
        dtype : torch.dtype
            The precision of the divisor.

        Returns
        -------
        Call
            This one unless there is a group and the reduction is "mean".
        """
        if group is None or self.reduction != "mean":
            return self
        total = add_over_processes(self.own_divisor(), group, self.target)
        return self._replace(shared_divisor=(total / group_size(group)).to(dtype))

    def rows(self, rows: slice) -> Call:
        """Return the call for some of the samples.

        Parameters
        ----------
        rows : slice
            The samples.

        Returns
        -------
        Call
        """
        target = self.target[rows]
        indices = target if self.indices is self.target else self.indices[rows]
        drop = None if self.drop is None else self.drop[rows]
        return self._replace(target=target, indices=indices, drop=drop)

    def save(self, ctx: Context, *inputs: Tensor | None) -> None:
        """Keep inputs and call for a backward pass; PyTorch notices if they change before it.

        Parameters
        ----------
        ctx : Context
            The context of the autograd function.
        *inputs : Tensor or None
            Further tensors to keep.
        """
        ctx.save_for_backward(
            *inputs, self.target, self.indices, self.drop, self.weight, *self.table.columns()
        )
        ctx.options = (
            self.table.focus,
            self.table.drop_rate,
            self.ignore_index,
            self.reduction,
            self.shared_divisor,
        )

    @classmethod
    def restored(cls, ctx: Context) -> tuple[tuple[Tensor, ...], Call]:
        """Return the inputs and the call that ``save`` kept.

        Parameters
        ----------
        ctx : Context
            The context of the autograd function.

        Returns
        -------
        inputs : tuple of Tensor
            The further tensors.
        call : Call
            The call.
        """
        own = 4 + len(COLUMNS)
        target, indices, drop, weight, *columns = ctx.saved_tensors[-own:]
        focus, drop_rate, ignore_index, reduction, shared = ctx.options
        table = Table.of_columns(columns, focus, drop_rate)
        call = cls(target, indices, table, drop, weight, ignore_index, reduction, shared)
        return ctx.saved_tensors[:-own], call
