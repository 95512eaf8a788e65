"""A LossSpec as tensors: what the kernels look up by class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from immax.losses.spec import LossSpec

__all__ = ["FIELDS", "Table", "spec_tensors"]

FIELDS = ("temperature", "scale", "offset", "target_offset", "weight", "droppable")


class Table(NamedTuple):
    """Per-class tensors of shape (C,); None stands for ones, zeros, or nothing to drop.

    The columns are the spec's.
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
    def of(cls, spec: LossSpec, device: Any = None, dtype: torch.dtype | None = None) -> Table:
        return cls(**spec_tensors(spec, device, dtype), focus=spec.focus, drop_rate=spec.drop_rate)

    @property
    def many_steps(self) -> bool:
        """Whether PyTorch needs many operations: a focal exponent, or dropped classes."""
        return self.focus > 0 or self.droppable is not None

    def columns(self) -> tuple[Tensor | None, ...]:
        """The tensors, in the order of FIELDS."""
        return self[:6]

    def numbers(self) -> tuple[Tensor | None, ...]:
        """The tensors of floating-point numbers."""
        return self[:5]

    def requires_grad(self) -> bool:
        return any(part is not None and part.requires_grad for part in self.numbers())

    def to(self, dtype: torch.dtype) -> Table:
        """The same in another precision."""
        column = self.column()
        if column is None or column.dtype == dtype:
            return self
        parts: Any = [part if part is None else part.to(dtype) for part in self.numbers()]
        return Table(*parts, self.droppable, self.focus, self.drop_rate)  # type: ignore[call-arg]

    def column(self) -> Tensor | None:
        """Any of the tensors of numbers; None if there is none."""
        for part in self[:5]:
            if part is not None:
                return part
        return None

    def draw(self, target: Tensor, generator: torch.Generator | None = None) -> Tensor | None:
        """For each label, whether the droppable classes are left out; None if never."""
        if self.droppable is None:
            return None
        draws = torch.rand(target.shape, generator=generator, device=target.device)
        return draws < self.drop_rate


def spec_tensors(
    spec: LossSpec, device: Any = None, dtype: torch.dtype | None = None
) -> dict[str, Tensor | None]:
    """The tensors of a Table by name. Columns that change nothing are None."""
    dtype = dtype or torch.get_default_dtype()
    columns = {
        "temperature": (spec.temperature, (spec.temperature != 1).any()),
        "scale": (spec.scale, (spec.scale != 1).any()),
        "offset": (spec.offset, spec.offset.any()),
        "target_offset": (spec.target_offset, spec.target_offset.any()),
        "weight": (spec.weight, (spec.weight != 1).any()),
        "droppable": (spec.droppable, spec.random),
    }
    return {
        name: torch.tensor(
            values, device=device, dtype=torch.bool if values.dtype == np.bool_ else dtype
        )
        if matters
        else None
        for name, (values, matters) in columns.items()
    }
