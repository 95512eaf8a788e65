"""The base class of the losses of class numbers, and the loss of a LossSpec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.types import Device

from immax.arrays import Array
from immax.losses.spec import LossSpec
from immax.torch.checks import check_classes, is_traced
from immax.torch.count_states import CountsInState
from immax.torch.functional import table_loss
from immax.torch.links import table_log_proba
from immax.torch.probabilities import Probabilities
from immax.torch.processes import Group
from immax.torch.sample_weights import mean_weight
from immax.torch.states import States, current_states
from immax.torch.table import COLUMNS, Table, spec_columns

__all__ = ["ClassLoss", "SpecLoss"]


class ClassLoss(CountsInState):
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
    group : ProcessGroup or "world", optional
        Processes that train together, each on its part of a batch: a mean is then over the
        samples of all of them. By default it is over those of this process.
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
        group: Group = None,
    ) -> None:
        super().__init__()
        dtype = dtype or torch.get_default_dtype()
        weights = None if weight is None else torch.as_tensor(weight, device=device, dtype=dtype)
        self.register_buffer("class_weight", weights)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.group = group

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a buffer, and move those that are None to the end.

        Parameters
        ----------
        name : str
            The name of the buffer.
        tensor : Tensor or None
            Its value.
        persistent : bool, default=True
            Whether it is part of the module's state.
        """
        super().register_buffer(name, tensor, persistent)
        # torch.export counts buffers as if those that are None came last.
        for empty in [key for key, value in self._buffers.items() if value is None]:
            self._buffers[empty] = self._buffers.pop(empty)

    def _load_from_state_dict(self, state: Mapping[str, Tensor], prefix: str, *args: Any) -> None:
        saved_names = [name for name in state if name.startswith(prefix)]
        if not saved_names:
            return  # a checkpoint of cross-entropy: everything stays as it is
        errors: list[str] = args[-1]
        if saved_names == [prefix + "weight"] and self._knows(state[prefix + "weight"], errors):
            return
        # A schedule may have given class weights before the state was saved, or not yet.
        if state.get(prefix + "class_weight") is None:
            self.class_weight = None
        for name in self.optional_buffers:
            saved = state.get(prefix + name)
            if saved is not None and self._buffers[name] is None:
                self._buffers[name] = torch.empty_like(saved)
        super()._load_from_state_dict(state, prefix, *args)

    def _knows(self, saved: Tensor, errors: list[str]) -> bool:
        """Deal with a state of weights alone: that of ``nn.CrossEntropyLoss(weight=…)``.

        A method with class weights of its own keeps them. States that earlier versions saved of
        it look the same, so that weights that are its own are taken for those.
        """
        own = self._buffers.get("weight")
        if own is None:
            self.class_weight = saved.detach().clone()
        elif own.is_meta:
            return False
        elif not _are_equal(saved, own):
            name = type(self).__name__
            errors.append(
                f"the checkpoint holds class weights alone, {_shown(saved)}, as that of "
                f"nn.CrossEntropyLoss does; those of {name} itself are {_shown(own)}, and must "
                "neither be replaced by them nor be multiplied with them unasked. Delete the "
                f"entry from the checkpoint to keep those of {name}, or pass weight= to multiply; "
                f"if it is of {name} with other class counts, make the loss with those"
            )
        return True


def _are_equal(one: Tensor, other: Tensor) -> bool:
    """Return whether weights are equal up to the rounding of the lower precision."""
    precision = max(torch.finfo(weights.dtype).eps for weights in (one, other))
    pair = one.to(other)
    return pair.shape == other.shape and torch.allclose(pair, other, rtol=4 * precision, atol=0)


def _shown(weights: Tensor) -> str:
    """Return the first weights, for a message."""
    some = ", ".join(f"{weight:.4g}" for weight in weights[:4].tolist())
    return f"[{some}{', …' if len(weights) > 4 else ''}]"


class SpecLoss(Probabilities, ClassLoss):
    """The loss of a LossSpec.

    Its columns are buffers of the same names, None where they have no effect; their values at
    the time of the call count.

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
    group : ProcessGroup or "world", optional
        As in ``IMMAXLoss``.
    normalize : {"batch"}, optional
        Scale the class weights, the method's own and those that are given, to an average of one
        over the samples of each batch, and of all processes of the group. By default the
        method's own weights are taken as they are.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> criterion = SpecLoss(catalog.la([900, 90, 10], tau=0.5))
    >>> criterion(torch.zeros(2, 3), torch.tensor([0, 2])).item()
    1.4767614603042603
    >>> criterion.proba(torch.zeros(1, 3))  # the logits lack half of the prior's logarithm
    tensor([[0.7034, 0.2224, 0.0741]])
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
        *,
        group: Group = None,
        normalize: Literal["batch"] | None = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, device, dtype, group)
        if normalize not in ("batch", None):
            raise ValueError(f"normalize must be 'batch' or None; got {normalize!r}")
        self.spec = spec
        self.normalize = normalize
        self.label_smoothing = label_smoothing
        self.n_classes: int | None = spec.n_classes
        for name, column in spec_columns(spec, device, dtype).items():
            self.register_buffer(name, column)
        self._states: States | None = current_states(self._buffers["temperature"])

    def table(self) -> Table:
        """Return the buffers as a Table.

        Returns
        -------
        Table
        """
        column, spec = self._buffers, self.spec
        return Table(
            column["temperature"],
            column["scale"],
            column["offset"],
            column["target_offset"],
            column["weight"],
            column["droppable"],
            spec.focus,
            spec.drop_rate,
        )

    def current_spec(self) -> LossSpec:
        """Return the spec of the buffers, which may have been edited or loaded since.

        Returns
        -------
        LossSpec
            With the numbers of ``spec`` in full precision where the buffers still hold them.
        """
        spec = self.spec
        made, neutral = spec_columns(spec), LossSpec(np.ones(spec.n_classes))

        def column(name: str) -> Array:
            held, exact = self._buffers[name], np.asarray(getattr(spec, name))
            if held is None:
                return exact if made[name] is None else np.asarray(getattr(neutral, name))
            held = held.detach().cpu()
            if torch.equal(torch.tensor(exact, dtype=held.dtype), held):
                return exact
            return np.asarray(held.tolist())

        columns: dict[str, Any] = {name: column(name) for name in COLUMNS}
        return LossSpec(**columns, focus=spec.focus, drop_rate=spec.drop_rate, name=spec.name)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        target : Tensor of int64, shape (), (N,) or (N, d1, …); or of the logits' shape
            Class numbers or, in floating point, class probabilities.

        Returns
        -------
        Tensor
            A scalar, or one loss per sample without a reduction.

        Raises
        ------
        TypeError, ValueError
            If an argument is wrong.
        IndexError
            If a label is neither a class nor ``ignore_index``.
        """
        if self.n_classes is not None:
            check_classes(logits, self.n_classes)
        table, weight = self.table(), self._buffers["class_weight"]
        own = None if self.normalize is None else table.weight
        if own is not None:
            # As cross-entropy's weights, they enter the divisor of a mean.
            weight = own if weight is None else own * weight
            table = table.without_weight()
        loss = table_loss(
            logits,
            target,
            table,
            weight,
            self.ignore_index,
            self.reduction,
            self.label_smoothing,
            group=self.group,
        )
        if own is None or weight is None:
            return loss
        if self.reduction != "mean" or target.is_floating_point():
            loss = loss / mean_weight(target, weight, self.ignore_index, self.group).to(loss)
        return loss

    def _log_proba(self, logits: Tensor) -> Tensor:
        if self.n_classes is not None:
            check_classes(logits, self.n_classes)
        table = self.table()
        if not is_traced():
            self._states = current_states(table.temperature, self._states)
        return table_log_proba(logits, table, self._states)

    def _load_from_state_dict(self, state: Mapping[str, Tensor], prefix: str, *args: Any) -> None:
        super()._load_from_state_dict(state, prefix, *args)
        self._states = current_states(self._buffers["temperature"])

    def extra_repr(self) -> str:
        """Return what the module's representation shows in its parentheses.

        Returns
        -------
        str
        """
        classes = "any" if self.n_classes is None else self.n_classes
        return f"{self.spec.name}, classes={classes}, reduction={self.reduction!r}"
