"""Schedules for training: deferred class weights, and a warm-up of the margins."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.types import Device

from immax.torch.class_loss import ClassLoss
from immax.torch.counts import Counts, Data, counts_of
from immax.torch.margin_base import MarginLoss

__all__ = ["DeferredReweighting", "MarginWarmup", "WarmupState"]


class WarmupState(TypedDict):
    """The state of a ``MarginWarmup``: the steps that were taken, and the final margins."""

    taken: int
    target: Tensor


class DeferredReweighting:
    """Give a loss class weights from an epoch on (deferred re-weighting, DRW).

    Parameters
    ----------
    loss : nn.Module
        Any loss of this package with class weights, or ``nn.CrossEntropyLoss``.
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts; None with ``labels`` or ``dataset``.
    start_epoch : int
        The first epoch, counted from 0, with weights.
    beta : float, default=0.9999
        The parameter of the effective number of samples: weights are
        ``(1 - beta) / (1 - beta^count)``, scaled to a mean of one. They are equal for 0, and tend
        to inverse counts as beta tends to 1.
    device : device, optional
        The device of the weights; that of the loss by default, if it has a tensor.
        ``nn.CrossEntropyLoss()`` on a GPU needs it.
    dtype : dtype, optional
        The precision of the weights; PyTorch's default by default.
    labels, dataset, minimum
        As in ``IMMAXLoss``.

    Raises
    ------
    ValueError
        If the loss has no class weights, or beta is out of its range.

    Examples
    --------
    >>> from immax.torch import LDAMLoss
    >>> criterion = LDAMLoss([900, 100])
    >>> schedule = DeferredReweighting(criterion, [900, 100], start_epoch=160)
    >>> for epoch in range(200):
    ...     schedule.step(epoch)
    >>> criterion.class_weight
    tensor([0.2073, 1.7927])
    """

    def __init__(
        self,
        loss: nn.Module,
        counts: Counts | None,
        start_epoch: int,
        beta: float = 0.9999,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        labels: Tensor | ArrayLike | None = None,
        dataset: Data | None = None,
        minimum: float | None = None,
    ) -> None:
        if not isinstance(loss, (ClassLoss, nn.CrossEntropyLoss, nn.NLLLoss)):
            raise ValueError(f"loss must have class weights; got {type(loss).__name__}")
        self._name = "class_weight" if isinstance(loss, ClassLoss) else "weight"
        if not 0 <= beta < 1:
            raise ValueError(f"beta must be at least 0 and below 1; got {beta!r}")
        m = counts_of(counts, labels, dataset, minimum=minimum)
        if m is None:
            raise ValueError("one of counts, labels and dataset must be given")
        weights = (1 - beta) / -np.expm1(m * np.log(beta)) if beta > 0 else np.ones_like(m)
        self.loss = loss
        self.start_epoch = start_epoch
        self._before: Tensor | None = getattr(loss, self._name)
        self._device = device
        self._after = torch.tensor(
            weights / weights.mean(), dtype=dtype or torch.get_default_dtype()
        )
        self.epoch = -1

    def step(self, epoch: int | None = None) -> None:
        """Set the class weights of an epoch; to be called at its beginning.

        Parameters
        ----------
        epoch : int, optional
            The number of the epoch; one more than at the last call by default.
        """
        self.epoch = self.epoch + 1 if epoch is None else epoch
        weights = self._after if self.epoch >= self.start_epoch else self._before
        if weights is not None:
            tensors = [*self.loss.parameters(), *self.loss.buffers()]
            device = tensors[0].device if self._device is None and tensors else self._device
            weights = weights.to(device)
        setattr(self.loss, self._name, weights)

    def state_dict(self) -> dict[str, int]:
        """Return the state, for a checkpoint.

        Returns
        -------
        dict
            The current epoch.
        """
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue from a state, and set the class weights of its epoch.

        Parameters
        ----------
        state : dict
            What ``state_dict`` returned.
        """
        self.step(state["epoch"])


class MarginWarmup:
    """Move the margins of an IMMAX loss from equal ones to its own over a number of steps.

    After t of n steps the margins are proportional to ``rho^(t / n)``, with the sum of rho.

    Parameters
    ----------
    loss : MarginLoss
        An IMMAX loss with fixed margins, which are the final ones.
    steps : int
        The number of steps.

    Raises
    ------
    ValueError
        If there is no step, or the margins are learnt.

    Examples
    --------
    >>> from immax.torch import IMMAXLoss
    >>> criterion = IMMAXLoss([800, 100])
    >>> warmup = MarginWarmup(criterion, steps=2)
    >>> criterion.rho
    tensor([1., 1.])
    >>> warmup.step(); warmup.step(); criterion.rho
    tensor([1.3333, 0.6667])
    """

    def __init__(self, loss: MarginLoss, steps: int) -> None:
        if steps < 1:
            raise ValueError(f"steps must be at least 1; got {steps!r}")
        self.loss = loss
        self.steps = steps
        self.taken = 0
        self._target = loss.rho.detach().clone()
        self._set_margins()

    def _set_margins(self) -> None:
        if self.taken >= self.steps:
            self.loss.set_margins(self._target)
            return
        rho = self._target.double() ** (self.taken / self.steps)
        self.loss.set_margins(rho * (self._target.double().sum() / rho.sum()))

    def step(self) -> None:
        """Take one step; to be called after each step of the optimiser.

        Once the final margins are reached, further calls change nothing.
        """
        if self.taken < self.steps:
            self.taken += 1
            self._set_margins()

    def state_dict(self) -> WarmupState:
        """Return the state, for a checkpoint.

        Returns
        -------
        WarmupState
            The number of steps taken, and the final margins.
        """
        return {"taken": self.taken, "target": self._target}

    def load_state_dict(self, state: WarmupState) -> None:
        """Continue from a state, and set its margins.

        Parameters
        ----------
        state : WarmupState
            What ``state_dict`` returned.
        """
        self.taken, self._target = state["taken"], state["target"]
        self._set_margins()
