"""What changes during training: class weights that come late, margins that come slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from immax.margins import class_vector
from immax.torch.counts import as_counts
from immax.torch.losses import ClassLoss
from immax.torch.margin_losses import _MarginLoss

__all__ = ["DeferredReweighting", "MarginWarmup"]


class DeferredReweighting:
    """Give a loss class weights from an epoch on (deferred re-weighting, DRW).

    Parameters
    ----------
    loss : nn.Module
        Any loss of this package with class weights, or ``nn.CrossEntropyLoss``.
    counts : array-like of shape (C,), Dataset or array of labels
    start_epoch : int
        The first epoch, counted from 0, with weights.
    beta : float, default=0.9999
        Of the effective number of samples: weights are ``(1 - beta) / (1 - beta^count)``,
        scaled to a mean of one. 0 is no weights, and towards 1 they become inverse counts.
    device, dtype
        Of the weights. By default the device of the loss, if it has a tensor, and the default
        dtype; ``nn.CrossEntropyLoss()`` on a GPU needs the device.

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
        counts: Any,
        start_epoch: int,
        beta: float = 0.9999,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if not isinstance(loss, (ClassLoss, nn.CrossEntropyLoss, nn.NLLLoss)):
            raise ValueError(f"loss must have class weights; got {type(loss).__name__}")
        self._name = "class_weight" if isinstance(loss, ClassLoss) else "weight"
        if not 0 <= beta < 1:
            raise ValueError(f"beta must be at least 0 and below 1; got {beta!r}")
        m = class_vector(as_counts(counts), "counts")
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
        """Call at the beginning of each epoch, with its number or without."""
        self.epoch = self.epoch + 1 if epoch is None else epoch
        weights = self._after if self.epoch >= self.start_epoch else self._before
        if weights is not None:
            tensors = [*self.loss.parameters(), *self.loss.buffers()]
            device = tensors[0].device if self._device is None and tensors else self._device
            weights = weights.to(device)
        setattr(self.loss, self._name, weights)

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.step(state["epoch"])


class MarginWarmup:
    """Lead an IMMAX loss from equal margins to its own over a number of steps.

    After t of n steps the margins are proportional to ``rho^(t / n)``, with the sum of rho.

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

    def __init__(self, loss: _MarginLoss, steps: int) -> None:
        if steps < 1:
            raise ValueError(f"steps must be at least 1; got {steps!r}")
        self.loss = loss
        self.steps = steps
        self.taken = 0
        self._target = loss.rho.detach().clone()
        self._set()

    def _set(self) -> None:
        if self.taken >= self.steps:
            self.loss.set_margins(self._target)
            return
        rho = self._target.double() ** (self.taken / self.steps)
        self.loss.set_margins(rho * (self._target.double().sum() / rho.sum()))

    def step(self) -> None:
        """Call after each optimiser step; further calls change nothing."""
        if self.taken < self.steps:
            self.taken += 1
            self._set()

    def state_dict(self) -> dict[str, Any]:
        return {"taken": self.taken, "target": self._target}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.taken, self._target = state["taken"], state["target"]
        self._set()
