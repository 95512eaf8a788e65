"""IMMAX as modules: a margin for each class, from its count."""

from __future__ import annotations

from typing import Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.types import Device

from immax.torch.counts import LabelSource
from immax.torch.functional import table_loss
from immax.torch.margin_base import MarginLoss, ProbabilityLoss
from immax.torch.surrogates import immax_exponential_loss, immax_hinge_loss
from immax.torch.table import Table

__all__ = ["IMMAXExponentialLoss", "IMMAXHingeLoss", "IMMAXLoss"]


class IMMAXLoss(ProbabilityLoss):
    """Logistic IMMAX: ``log sum_j exp((h_j - h_y) / rho_y)``, in place of cross-entropy.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels, optional
        Class counts, or labels to be counted. An array of integers that contains a zero is taken
        for labels, since counts are positive.
    rho : array-like of shape (C,), optional
        The margins themselves; ``counts``, ``total``, ``power`` and ``groups`` are then not used.
    total : float, optional
        The sum of the margins. By default (or with "mean") it is the number of classes: their
        mean is one, and equal counts give cross-entropy to the last bit. 1 is the paper's scaling.
        The scale multiplies the learning rate: on long-tailed CIFAR-10 at a learning rate of 0.1
        a small residual network reached 80.9 % with cross-entropy and 54.7 % with margins of sum
        one.
    power : float, default=1/3
        Margins are proportional to ``count^power``. 1/3 is the theory's value, 0 gives
        cross-entropy; a search over it is worthwhile.
    groups : int or array-like of shape (C,), optional
        Classes of one group share a margin, that of their mean count. With a number n, the n - 1
        most frequent classes have a group each, and all others the last group.
    learnable : bool, default=False
        Whether the margins are parameters, learnt with the network; their sum is constant.
    label_smoothing : float, default=0.0
        As in ``nn.CrossEntropyLoss``, of the logits divided by the target's margin.
    weight : array-like of shape (C,), optional
        Class weights, as in ``nn.CrossEntropyLoss``.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in ``nn.CrossEntropyLoss``.
    device : device, optional
        The device of the margins.
    dtype : dtype, optional
        The precision of the margins; PyTorch's default by default.

    References
    ----------
    *Balancing the Scales*, theorem on the best margins and section "Algorithms".

    Examples
    --------
    >>> criterion = IMMAXLoss([5000, 500, 50])
    >>> criterion.rho
    tensor([1.7861, 0.8291, 0.3848])
    >>> logits = torch.zeros(4, 3, requires_grad=True)
    >>> criterion(logits, torch.tensor([0, 0, 1, 2])).backward()
    >>> criterion.proba(torch.zeros(1, 3))  # equal scores are not equal chances
    tensor([[0.5954, 0.2764, 0.1283]])
    """

    def __init__(
        self,
        counts: LabelSource | None = None,
        rho: ArrayLike | Tensor | None = None,
        total: float | Literal["mean"] | None = None,
        power: float = 1 / 3,
        groups: int | ArrayLike | Tensor | None = None,
        learnable: bool = False,
        *,
        label_smoothing: float = 0.0,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            counts,
            rho,
            total,
            power,
            groups,
            learnable,
            weight,
            ignore_index,
            reduction,
            device,
            dtype,
        )
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return table_loss(
            logits,
            target,
            Table(self.rho),
            self.class_weight,
            self.ignore_index,
            self.reduction,
            self.label_smoothing,
            temperature_name="rho",
        )


class IMMAXHingeLoss(MarginLoss):
    """IMMAX with the hinge, ``max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)``.

    Its scores do not determine probabilities: calibrate them.

    Parameters
    ----------
    counts, rho, total, power, groups, learnable, weight, ignore_index, reduction, device, dtype
        As in ``IMMAXLoss``.
    """

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return immax_hinge_loss(
            logits, target, self.rho, self.class_weight, self.ignore_index, self.reduction
        )


class IMMAXExponentialLoss(ProbabilityLoss):
    """IMMAX with the exponential, ``sum_{j != y} exp((h_j - h_y) / rho_y)``.

    Parameters
    ----------
    counts, rho, total, power, groups, learnable, weight, ignore_index, reduction, device, dtype
        As in ``IMMAXLoss``.
    form : {"sum", "max"}, default="sum"
        Whether to add the terms or to take the largest, which does not determine probabilities.
    """

    link = "exponential"

    def __init__(
        self,
        counts: LabelSource | None = None,
        rho: ArrayLike | Tensor | None = None,
        total: float | Literal["mean"] | None = None,
        power: float = 1 / 3,
        groups: int | ArrayLike | Tensor | None = None,
        learnable: bool = False,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        form: str = "sum",
    ) -> None:
        super().__init__(
            counts,
            rho,
            total,
            power,
            groups,
            learnable,
            weight,
            ignore_index,
            reduction,
            device,
            dtype,
        )
        if form not in ("sum", "max"):
            raise ValueError(f"form must be 'sum' or 'max'; got {form!r}")
        self.form = form

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return immax_exponential_loss(
            logits,
            target,
            self.rho,
            self.class_weight,
            self.ignore_index,
            self.reduction,
            self.form,
        )

    def proba(self, logits: Tensor) -> Tensor:
        if self.form == "max":
            raise ValueError("the max form does not determine probabilities: calibrate its scores")
        return super().proba(logits)
