"""The base class of the losses of class numbers, and the loss of a LossSpec."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.types import Device

from immax.losses.spec import LossSpec
from immax.torch.checks import check_classes
from immax.torch.functional import table_loss
from immax.torch.table import COLUMNS, Table, spec_columns

__all__ = ["ClassLoss", "SpecLoss"]


class ClassLoss(nn.Module):
    """The arguments of ``nn.CrossEntropyLoss`` that all losses of class numbers share.

    Parameters
    ----------
    weight : array-like of shape (C,), optional
        Class weights; as in cross-entropy, a mean is divided by their sum.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in ``nn.CrossEntropyLoss``.
    device : device, optional
        The device of the buffers.
    dtype : dtype, optional
        The precision of the buffers; PyTorch's default by default.
    """

    class_weight: Tensor | None
    optional_buffers: tuple[str, ...] = ("class_weight",)  # these may be None

    def __init__(
        self,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        dtype = dtype or torch.get_default_dtype()
        weights = None if weight is None else torch.as_tensor(weight, device=device, dtype=dtype)
        self.register_buffer("class_weight", weights)
        self.ignore_index = ignore_index
        self.reduction = reduction

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        super().register_buffer(name, tensor, persistent)
        # torch.export counts buffers as if those that are None came last.
        for empty in [key for key, value in self._buffers.items() if value is None]:
            self._buffers[empty] = self._buffers.pop(empty)

    def _load_from_state_dict(
        self, state: Mapping[str, Tensor], prefix: str, *args: object
    ) -> None:
        # A schedule may have given class weights before the state was saved, or not yet.
        if state.get(prefix + "class_weight") is None:
            self.class_weight = None
        for name in self.optional_buffers:
            saved = state.get(prefix + name)
            if saved is not None and self._buffers[name] is None:
                self._buffers[name] = torch.empty_like(saved)
        super()._load_from_state_dict(state, prefix, *args)


class SpecLoss(ClassLoss):
    """The loss of a LossSpec.

    Its columns are buffers of their names, None where they change nothing; what they hold when
    the loss is called is what counts.

    Parameters
    ----------
    spec : LossSpec
        The method.
    weight : array-like of shape (C,), optional
        Class weights over and above the method's own; as in cross-entropy, a mean is divided
        by their sum.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in ``nn.CrossEntropyLoss``.
    label_smoothing : float, default=0.0
        As in ``nn.CrossEntropyLoss``; not with a focal exponent or a ``drop_rate``.
    device : device, optional
        The device of the buffers.
    dtype : dtype, optional
        The precision of the buffers; PyTorch's default by default. Logits in double precision
        should come with ``dtype=torch.float64``.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> criterion = SpecLoss(catalog.la([900, 90, 10], tau=0.5))
    >>> criterion(torch.zeros(2, 3), torch.tensor([0, 2])).item()
    1.4767614603042603
    """

    optional_buffers = ("class_weight", *COLUMNS)

    def __init__(
        self,
        spec: LossSpec,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, device, dtype)
        self.spec = spec
        self.label_smoothing = label_smoothing
        for name, column in spec_columns(spec, device, dtype).items():
            self.register_buffer(name, column)

    def table(self) -> Table:
        """Return the buffers as a Table.

        Returns
        -------
        Table
        """
        columns = [self._buffers[name] for name in COLUMNS]
        return Table.of_columns(columns, self.spec.focus, self.spec.drop_rate)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        check_classes(logits, self.spec.n_classes)
        return table_loss(
            logits,
            target,
            self.table(),
            self.class_weight,
            self.ignore_index,
            self.reduction,
            self.label_smoothing,
        )

    def extra_repr(self) -> str:
        return f"{self.spec.name}, classes={self.spec.n_classes}, reduction={self.reduction!r}"
