"""A call of a loss: all that it is given beside the logits."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from immax.torch.table import FIELDS, Table

__all__ = ["Call", "looked_up"]


def looked_up(column: Tensor, target: Tensor) -> Tensor:
    """The entries of a per-class column at the targets, of the targets' shape."""
    return column.index_select(0, target) if target.ndim == 1 else column[target]


class Call(NamedTuple):
    """Labels, the method, what of it was drawn, class weights, and how to reduce.

    All numbers are of one precision.
    """

    target: Tensor  # (N, …)
    table: Table
    drop: Tensor | None = None  # (N, …), whether the droppable classes are left out
    weight: Tensor | None = None  # (C,), the caller's
    ignore_index: int = -100
    reduction: str = "mean"

    def known(self) -> Tensor:
        """Labels that can be looked up: what is ignored later on is taken for class 0 here."""
        if self.ignore_index < 0:
            return self.target.clamp_min(0)
        return self.target.masked_fill(self.target == self.ignore_index, 0)

    def class_weights(self) -> Tensor | None:
        """The method's and the caller's together."""
        if self.weight is None or self.table.weight is None:
            return self.table.weight if self.weight is None else self.weight
        return self.weight * self.table.weight

    def divisor(self) -> Tensor:
        """What a mean divides by: how many samples count, or the sum of the caller's weights.

        A method's own weights do not enter.
        """
        counted = self.target != self.ignore_index
        if self.weight is None:
            return counted.sum()
        return (looked_up(self.weight, self.known()) * counted).sum()

    def reduced(self, losses: Tensor) -> Tensor:
        """Losses, zero where they are ignored, weighed and reduced."""
        weights = self.class_weights()
        if weights is not None:
            losses = losses * looked_up(weights, self.known())
        if self.reduction == "none":
            return losses
        total = losses.sum()
        return total if self.reduction == "sum" else total / self.divisor()

    def rows(self, rows: slice) -> Call:
        """The same for some of the samples."""
        drop = None if self.drop is None else self.drop[rows]
        return self._replace(target=self.target[rows], drop=drop)

    def save(self, ctx: Any, *inputs: Tensor | None) -> None:
        """Keep inputs and call for a backward pass; PyTorch notices changes in between."""
        ctx.save_for_backward(*inputs, self.target, self.drop, self.weight, *self.table.columns())
        ctx.rest = self.table.focus, self.table.drop_rate, self.ignore_index, self.reduction

    @classmethod
    def saved(cls, ctx: Any) -> tuple[tuple[Any, ...], Call]:
        """The inputs and the call that were kept."""
        ours = 3 + len(FIELDS)
        target, drop, weight, *columns = ctx.saved_tensors[-ours:]
        focus, drop_rate, ignore_index, reduction = ctx.rest
        table = Table._make([*columns, focus, drop_rate])
        return ctx.saved_tensors[:-ours], cls(target, table, drop, weight, ignore_index, reduction)
