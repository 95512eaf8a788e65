"""The methods of the catalogue as modules: ``Loss(counts)`` replaces ``CrossEntropyLoss()``.

``MODULES`` has the module of every method of ``immax.losses.catalog``. Another method is a
subclass of ``CatalogLoss``, whose hyper-parameters and defaults come from the catalogue, and a row
of that table.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.types import Device

from immax.losses.catalog import METHODS
from immax.torch.class_loss import ClassLoss, SpecLoss
from immax.torch.counts import Counts, Data, counts_of
from immax.torch.margin_losses import IMMAXLoss
from immax.torch.processes import Group

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
    "WeightedIMMAXLoss",
]

WITHOUT_COUNTS = ("ce", "focal")  # methods whose formula has no counts


class CatalogLoss(SpecLoss):
    """A method of the catalogue by class counts.

    A subclass names its method, and takes over the method's hyper-parameters and their defaults:
    ``class LDAMLoss(CatalogLoss, method="ldam")`` has the signature
    ``LDAMLoss(counts=None, C=0.5, *, labels=None, …)``.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts. One of ``counts``, ``labels`` and ``dataset`` must be given, unless the
        method does not depend on counts.
    *args, **params : float
        The method's hyper-parameters, by position or by name.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
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
        first, *own = inspect.signature(METHODS[method].make).parameters.values()
        options = dict(inspect.signature(CatalogLoss.__init__).parameters)
        options.update(inspect.signature(cls.__init__).parameters)  # with defaults of its own
        keywords = [option for option in options.values() if option.kind is option.KEYWORD_ONLY]
        cls.__signature__ = inspect.Signature([first.replace(default=None), *own, *keywords])  # type: ignore[attr-defined]

    def __init__(
        self,
        counts: Counts | None = None,
        *args: float,
        labels: Tensor | ArrayLike | None = None,
        dataset: Data | None = None,
        num_classes: int | None = None,
        minimum: float | None = None,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
        group: Group = None,
        normalize: Literal["batch"] | None = None,
        **params: float,
    ) -> None:
        m = counts_of(counts, labels, dataset, num_classes, minimum, ignore_index)
        if m is None and self.method not in WITHOUT_COUNTS:
            raise ValueError("one of counts, labels and dataset must be given")
        # A spec has a number of classes; those without counts have no column that depends on it.
        spec = METHODS[self.method].make(np.ones(2) if m is None else m, *args, **params)
        super().__init__(
            spec,
            weight,
            ignore_index,
            reduction,
            label_smoothing,
            device,
            dtype,
            group=group,
            normalize=normalize,
        )
        self.counts = None if m is None else tuple(m.tolist())
        self.n_classes = None if m is None else spec.n_classes


class CrossEntropyLoss(CatalogLoss, method="ce"):
    """Cross-entropy, ``-log softmax(h)_y``, computed as the other methods are.

    Parameters
    ----------
    counts : array-like of shape (C,), optional
        Class counts; they change nothing, and need not be given.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
        As in ``SpecLoss``.
    """


class ReweightedLoss(CatalogLoss, method="rw"):
    """Re-weighting: ``-(m / (C m_y)) log softmax(h)_y``, with weights of average one in each batch.

    As in the paper, the weights are scaled so that the average weight of the samples of a
    mini-batch is one; as they are, they would multiply the learning rate.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    normalize : {"batch"}, default="batch"
        None takes the weights as they are.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.

    References
    ----------
    *Balancing the Scales*, appendix "Experimental details".

    Examples
    --------
    >>> logits, target = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
    >>> ReweightedLoss([75, 25])(logits, target).item()  # weights 1 : 3
    0.5515923500061035
    """

    def __init__(
        self,
        counts: Counts | None = None,
        *,
        normalize: Literal["batch"] | None = "batch",
        **options: Any,
    ) -> None:
        super().__init__(counts, normalize=normalize, **options)


class BalancedSoftmaxLoss(CatalogLoss, method="bs"):
    """Balanced softmax: ``-log(m_y e^{h_y} / sum_j m_j e^{h_j})``.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
        As in ``SpecLoss``.
    """


class EqualizationLoss(CatalogLoss, method="equal"):
    """Equalization: rare classes are dropped from the negatives at random.

    Draws come from PyTorch's default generator of the device.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    p : float, default=0.9
        The probability with which a sample drops the rare classes.
    threshold : float, default=1.76e-3
        Classes with ``m_k / m < threshold`` are rare.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, device, dtype, group
        As in ``IMMAXLoss``.
    label_smoothing, normalize
        As in ``SpecLoss``; labels are not smoothed here.
    """


class LogitAdjustedLoss(CatalogLoss, method="la"):
    """Logit adjustment: ``-log(m_y^tau e^{h_y} / sum_j m_j^tau e^{h_j})``.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    tau : float, default=1.0
        The exponent of the counts; positive.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
        As in ``SpecLoss``.
    """


class ClassBalancedLoss(CatalogLoss, method="cb"):
    """Class-balanced: ``-w_y log softmax(h)_y`` with ``w_k ∝ 1 / (1 - gamma^{m_k})``.

    The mean of the weights over the samples is one.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    gamma : float, default=0.9999
        Strictly between 0 and 1.
    exponent : {"count", "share"}, default="count"
        "share" is the form that the paper prints: see ``immax.losses.catalog.cb``.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
        As in ``SpecLoss``.
    """


class FocalLoss(CatalogLoss, method="focal"):
    """Focal: ``-(1 - p_y)^gamma log p_y`` with ``p = softmax(h)``.

    Parameters
    ----------
    counts : array-like of shape (C,), optional
        Class counts; they change nothing, and need not be given.
    gamma : float, default=1.0
        The focal exponent; not negative.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, device, dtype, group
        As in ``IMMAXLoss``.
    label_smoothing, normalize
        As in ``SpecLoss``; labels are not smoothed here.
    """


class LDAMLoss(CatalogLoss, method="ldam"):
    """LDAM: cross-entropy with the target's logit lowered by ``C / m_y^{1/4}``.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    C : float, default=0.5
        The scale of the offsets; positive.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
        As in ``SpecLoss``.
    """


class VectorScalingLoss(CatalogLoss, method="vs"):
    """Vector scaling: logits times ``(m_j / max m)^gamma`` plus ``tau log(m_j / m)``.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    gamma : float, default=0.15
        The exponent of the scales; not negative.
    tau : float, default=1.0
        The factor of the offsets; not negative.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
        As in ``SpecLoss``.
    """


class WeightedIMMAXLoss(CatalogLoss, method="weighted_immax"):
    """Logistic IMMAX with class weights: margins ``∝ m_k^margin_power``, weights by a power too.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        Class counts ``m_k``. One of ``counts``, ``labels`` and ``dataset`` must be given.
    margin_power : float, default=-1/3
        The power of the margins.
    weight_power : float, default=1.0
        The weights are ``∝ m_k^-weight_power``.
    labels, dataset, num_classes, minimum, weight, ignore_index, reduction, label_smoothing, \
device, dtype, group
        As in ``IMMAXLoss``.
    normalize
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
        "weighted_immax": WeightedIMMAXLoss,
    }
)
"""The module of every method of the catalogue."""
