"""A LossSpec as tensors: the per-class columns that the losses read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.types import Device

from immax.arrays import Array
from immax.losses.spec import LossSpec

__all__ = ["COLUMNS", "Table", "spec_columns"]

COLUMNS = ("temperature", "scale", "offset", "target_offset", "weight", "droppable")


class Table(NamedTuple):
    """Per-class tensors of shape (C,), with the names and the meaning that ``LossSpec`` has.

    A column that is None changes nothing: it stands for ones, for zeros, or for no droppable
    class.

    Attributes
    ----------
    temperature, scale, offset, target_offset, weight : Tensor of shape (C,), or None
        Floating-point columns.
    droppable : Tensor of bool, shape (C,), or None
        Classes that may be left out as negatives.
    focus : float, default=0.0
        The focal exponent.
    drop_rate : float, default=0.0
        The probability with which a sample leaves the droppable classes out.
    """

    temperature: Tensor | None = None
    scale: Tensor | None = None
    offset: Tensor | None = None
    target_offset: Tensor | None = None
    weight: Tensor | None = None
    droppable: Tensor | None = None
    focus: float = 0.0
    drop_rate: float = 0.0

    @classmethod
    def of(cls, spec: LossSpec, device: Device = None, dtype: torch.dtype | None = None) -> Table:
        """Return the table of a spec.

        Parameters
        ----------
        spec : LossSpec
            The method.
        device : device, optional
            The device of the columns.
        dtype : torch.dtype, optional
            Their precision.

        Returns
        -------
        Table
        """
        columns = spec_columns(spec, device, dtype)
        return cls.of_columns(columns.values(), spec.focus, spec.drop_rate)

    @classmethod
    def of_columns(cls, columns: Iterable[Tensor | None], focus: float, drop_rate: float) -> Table:
        """Return the table of given columns.

        Parameters
        ----------
        columns : iterable of Tensor or None
            In the order of COLUMNS.
        focus : float
            The focal exponent.
        drop_rate : float
            The probability with which a sample leaves the droppable classes out.

        Returns
        -------
        Table
        """
        temperature, scale, offset, target_offset, weight, droppable = columns
        return cls(temperature, scale, offset, target_offset, weight, droppable, focus, drop_rate)

    def without_weight(self) -> Table:
        """Return the table without class weights.

        The compiler of PyTorch 2.4 cannot follow ``_replace``.

        Returns
        -------
        Table
        """
        return Table(
            self.temperature,
            self.scale,
            self.offset,
            self.target_offset,
            None,
            self.droppable,
            self.focus,
            self.drop_rate,
        )

    @property
    def drops_or_focuses(self) -> bool:
        """Whether there is a focal exponent, or a class that may be dropped.

        Such losses take PyTorch many operations, and have no label smoothing.
        """
        return self.focus > 0 or self.droppable is not None

    @property
    def looks_up_labels(self) -> bool:
        """Whether a column is indexed by label, or the samples that count are counted.

        Otherwise labels only go to ``F.cross_entropy``.
        """
        return (
            self.temperature is not None
            or self.target_offset is not None
            or self.weight is not None
            or self.droppable is not None
            or self.focus > 0
        )

    def columns(self) -> tuple[Tensor | None, ...]:
        """Return the tensors, in the order of COLUMNS.

        Returns
        -------
        tuple of Tensor or None
        """
        return self[:6]

    def numbers(self) -> tuple[Tensor | None, ...]:
        """Return the floating-point tensors, in the order of COLUMNS.

        Returns
        -------
        tuple of Tensor or None
        """
        return self[:5]

    def requires_grad(self) -> bool:
        """Return whether a column is being learnt.

        Returns
        -------
        bool
        """
        return any(column is not None and column.requires_grad for column in self.numbers())

    def to(self, dtype: torch.dtype) -> Table:
        """Return the table in another precision.

        Parameters
        ----------
        dtype : torch.dtype
            The precision.

        Returns
        -------
        Table
            This one if all its columns have that precision.
        """
        for column in self[:5]:
            if column is not None and column.dtype is not dtype:
                break
        else:
            return self
        columns = [column if column is None else column.to(dtype) for column in self.numbers()]
        return Table.of_columns([*columns, self.droppable], self.focus, self.drop_rate)

    def draw(self, target: Tensor, generator: torch.Generator | None = None) -> Tensor | None:
        """Draw for which samples the droppable classes are left out.

        Parameters
        ----------
        target : Tensor of int64, shape (N, …)
            The labels; only shape and device matter.
        generator : torch.Generator, optional
            The source of the draws; by default PyTorch's.

        Returns
        -------
        Tensor of bool, of the target's shape, or None
            None if no class is ever left out.
        """
        if self.droppable is None:
            return None
        draws = torch.rand(target.shape, generator=generator, device=target.device)
        return draws < self.drop_rate


def spec_columns(
    spec: LossSpec, device: Device = None, dtype: torch.dtype | None = None
) -> dict[str, Tensor | None]:
    """Return the columns of a Table by name.

    Parameters
    ----------
    spec : LossSpec
        The method.
    device : device, optional
        The device of the tensors; the CPU by default.
    dtype : dtype, optional
        The precision; PyTorch's default by default.

    Returns
    -------
    dict of str to Tensor or None
        Columns that change nothing are None.
    """
    dtype = dtype or torch.get_default_dtype()

    def tensor(values: Array, matters: bool, kind: torch.dtype = dtype) -> Tensor | None:
        return torch.tensor(values, device=device, dtype=kind) if matters else None

    return {
        "temperature": tensor(spec.temperature, bool((spec.temperature != 1).any())),
        "scale": tensor(spec.scale, bool((spec.scale != 1).any())),
        "offset": tensor(spec.offset, bool(spec.offset.any())),
        "target_offset": tensor(spec.target_offset, bool(spec.target_offset.any())),
        "weight": tensor(spec.weight, bool((spec.weight != 1).any())),
        "droppable": tensor(spec.droppable, spec.random, torch.bool),
    }
