"""The methods of the catalogue as modules: ``Loss(counts)`` replaces ``CrossEntropyLoss()``.

``MODULES`` has the module of every method of ``immax.losses.catalog``. Another method is a
subclass of ``CatalogLoss``, whose hyper-parameters and defaults come from the catalogue, and a row
of that table.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.types import Device

from immax.losses.catalog import METHODS
from immax.torch.class_loss import ClassLoss, SpecLoss
from immax.torch.counts import LabelSource, as_counts
from immax.torch.margin_losses import IMMAXLoss

__all__ = [
    "MODULES",
    "BalancedSoftmaxLoss",
    "CatalogLoss",
    "ClassBalancedLoss",
    "CrossEntropyLoss",
    "EqualizationLoss",
    "FocalLoss",
    "LDAMLoss",
    "LogitAdjustedLoss",
    "ReweightedLoss",
    "SpecLoss",
    "VectorScalingLoss",
]


class CatalogLoss(SpecLoss):
    """A method of the catalogue by class counts.

    A subclass names its method, and takes over the method's hyper-parameters and their defaults:
    ``class LDAMLoss(CatalogLoss, method="ldam")`` has the signature
    ``LDAMLoss(counts, C=0.5, *, weight=None, …)``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts, or labels to be counted. An array of integers that contains a zero is taken
        for labels, since counts are positive.
    *args, **params : float
        The method's hyper-parameters, by position or by name.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.

    Raises
    ------
    TypeError
        If the method has no such hyper-parameter.
    ValueError
        If a hyper-parameter is out of its range.
    """

    method: ClassVar[str]

    def __init_subclass__(cls, *, method: str) -> None:
        super().__init_subclass__()
        cls.method = method
        own = inspect.signature(METHODS[method].make).parameters.values()
        options = inspect.signature(CatalogLoss.__init__).parameters.values()
        keywords = [option for option in options if option.kind is option.KEYWORD_ONLY]
        cls.__signature__ = inspect.Signature([*own, *keywords])  # type: ignore[attr-defined]

    def __init__(
        self,
        counts: LabelSource,
        *args: float,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
        **params: float,
    ) -> None:
        spec = METHODS[self.method].make(as_counts(counts), *args, **params)
        super().__init__(spec, weight, ignore_index, reduction, label_smoothing, device, dtype)


class CrossEntropyLoss(CatalogLoss, method="ce"):
    """Cross-entropy, ``-log softmax(h)_y``, computed as the other methods are.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts, or labels to be counted; only the number of classes matters.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


class ReweightedLoss(CatalogLoss, method="rw"):
    """Re-weighting: ``-(m / (C m_y)) log softmax(h)_y``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


class BalancedSoftmaxLoss(CatalogLoss, method="bs"):
    """Balanced softmax: ``-log(m_y e^{h_y} / sum_j m_j e^{h_j})``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


class EqualizationLoss(CatalogLoss, method="equal"):
    """Equalization: rare classes are dropped from the negatives at random.

    Draws come from PyTorch's default generator of the device.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    p : float, default=0.9
        The probability with which a sample drops the rare classes.
    threshold : float, default=1.76e-3
        Classes with ``m_k / m < threshold`` are rare.
    weight, ignore_index, reduction, device, dtype
        As in ``SpecLoss``.
    """


class LogitAdjustedLoss(CatalogLoss, method="la"):
    """Logit adjustment: ``-log(m_y^tau e^{h_y} / sum_j m_j^tau e^{h_j})``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    tau : float, default=1.0
        The exponent of the counts; positive.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


class ClassBalancedLoss(CatalogLoss, method="cb"):
    """Class-balanced: ``-w_y log softmax(h)_y`` with ``w_k ∝ 1 / (1 - gamma^{m_k})``.

    The mean of the weights over the samples is one.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    gamma : float, default=0.9999
        Strictly between 0 and 1.
    exponent : {"count", "share"}, default="count"
        "share" is the form that the paper prints: see ``immax.losses.catalog.cb``.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


class FocalLoss(CatalogLoss, method="focal"):
    """Focal: ``-(1 - p_y)^gamma log p_y`` with ``p = softmax(h)``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts, or labels to be counted; only the number of classes matters.
    gamma : float, default=1.0
        The focal exponent; not negative.
    weight, ignore_index, reduction, device, dtype
        As in ``SpecLoss``.
    """


class LDAMLoss(CatalogLoss, method="ldam"):
    """LDAM: cross-entropy with the target's logit lowered by ``C / m_y^{1/4}``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    C : float, default=0.5
        The scale of the offsets; positive.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


class VectorScalingLoss(CatalogLoss, method="vs"):
    """Vector scaling: logits times ``(m_j / max m)^gamma`` plus ``tau log(m_j / m)``.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts ``m_k``, or labels to be counted.
    gamma : float, default=0.15
        The exponent of the scales; not negative.
    tau : float, default=1.0
        The factor of the offsets; not negative.
    weight, ignore_index, reduction, label_smoothing, device, dtype
        As in ``SpecLoss``.
    """


MODULES: Mapping[str, type[ClassLoss]] = MappingProxyType(
    {
        "immax": IMMAXLoss,
        "ce": CrossEntropyLoss,
        "rw": ReweightedLoss,
        "bs": BalancedSoftmaxLoss,
        "equal": EqualizationLoss,
        "la": LogitAdjustedLoss,
        "cb": ClassBalancedLoss,
        "focal": FocalLoss,
        "ldam": LDAMLoss,
        "vs": VectorScalingLoss,
    }
)
"""The module of every method of the catalogue."""
