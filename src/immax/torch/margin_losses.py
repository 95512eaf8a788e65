"""IMMAX as modules: a margin for each class, from its count."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from immax.arrays import Vector
from immax.margins import class_vector, power_margins, share_tail
from immax.torch import links
from immax.torch.checks import check_arguments, check_class_vector
from immax.torch.counts import as_counts
from immax.torch.functional import table_loss
from immax.torch.losses import ClassLoss
from immax.torch.surrogates import immax_binary_loss, immax_exponential_loss, immax_hinge_loss
from immax.torch.table import Table

__all__ = ["IMMAXBinaryLoss", "IMMAXExponentialLoss", "IMMAXHingeLoss", "IMMAXLoss"]


def _margins(
    counts: Any, rho: ArrayLike | None, total: str | float, power: float, groups: Any
) -> Vector:
    """Margins proportional to ``count^power``, equal within groups, on the asked scale."""
    if rho is not None:
        return class_vector(_array(rho), "rho")
    if counts is None:
        raise ValueError("counts or rho must be given")
    m = class_vector(as_counts(counts), "counts")
    if groups is not None:
        number = share_tail(m, int(groups)) if np.ndim(groups) == 0 else np.asarray(_array(groups))
        if number.shape != m.shape:
            raise ValueError(f"groups must give a group for each of {m.size} classes")
        sizes = np.bincount(number)
        m = (np.bincount(number, m) / np.maximum(sizes, 1))[number]
    if isinstance(total, str) and total != "mean":
        raise ValueError(f"total must be 'mean' or a positive number; got {total!r}")
    return power_margins(m, power, m.size if isinstance(total, str) else total)


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values


class _MarginLoss(ClassLoss):
    """Holds the margins, fixed or learnt."""

    def __init__(
        self,
        counts: Any = None,
        rho: ArrayLike | None = None,
        total: str | float = "mean",
        power: float = 1 / 3,
        groups: Any = None,
        learnable: bool = False,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, device, dtype)
        margins = _margins(counts, rho, total, power, groups)
        tensor = torch.tensor(margins, device=device, dtype=dtype or torch.get_default_dtype())
        if tensor.device.type != "meta" and not (tensor > 0).all():
            raise ValueError(f"rho must be positive in {tensor.dtype}; got {margins.tolist()}")
        self.learnable = learnable
        self._ones: Tensor | None = None  # the margins, as long as they are all one
        if learnable:
            self.log_rho = nn.Parameter(tensor.log())
            self.register_buffer("total", tensor.sum())
        else:
            self.register_buffer("fixed_rho", tensor)
            if (margins == 1).all():
                self._ones = tensor

    @property
    def rho(self) -> Tensor:
        """The margins, shape (C,). Learnt ones keep their sum."""
        if self.learnable:
            return self.get_buffer("total") * torch.softmax(self.log_rho, 0)
        rho = self._buffers["fixed_rho"]
        assert rho is not None
        return rho

    def set_margins(self, rho: Tensor) -> None:
        """Change fixed margins, for example on a schedule."""
        if self.learnable:
            raise ValueError("learnt margins cannot be set")
        with torch.no_grad():
            self.rho.copy_(rho)
        self._ones = None

    def _is_cross_entropy(self) -> bool:
        return self._ones is not None and self._buffers["fixed_rho"] is self._ones

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        self._ones = None

    def _apply(self, fn: Any, recurse: bool = True) -> _MarginLoss:
        equal = self._is_cross_entropy()
        super()._apply(fn, recurse)
        self._ones = self._buffers["fixed_rho"] if equal else None
        return self

    def extra_repr(self) -> str:
        classes = (self.log_rho if self.learnable else self.rho).shape[0]
        kind = "learnable" if self.learnable else "fixed"
        return f"classes={classes}, {kind} margins, reduction={self.reduction!r}"

    def predict(self, logits: Tensor) -> Tensor:
        """The class of the highest logit, along dimension 1; the highest number on a tie."""
        if logits.ndim == 1:
            return links.highest_argmax(logits.unsqueeze(0)).squeeze(0)
        return links.highest_argmax(logits)


class _ProbabilityLoss(_MarginLoss):
    """Losses that determine the class probabilities."""

    link = "logistic"

    @torch.no_grad()
    def proba(self, logits: Tensor) -> Tensor:
        """Class probabilities by the exact link; of the logits' shape."""
        check_class_vector(self.rho, "rho", logits)
        return links.immax_proba(logits, self.rho, self.link)

    def predict(self, logits: Tensor, rule: str = "score", costs: Any = None) -> Tensor:
        """Classes: of the highest logit, or with ``rule="bayes"`` of the least expected cost."""
        if rule == "score" and costs is None:
            return super().predict(logits)
        if rule != "bayes":
            raise ValueError(f"rule must be 'score' (without costs) or 'bayes'; got {rule!r}")
        if logits.ndim == 1:
            return links.decide(self.proba(logits).unsqueeze(0), costs).squeeze(0)
        return links.decide(self.proba(logits), costs)


class IMMAXLoss(_ProbabilityLoss):
    """Logistic IMMAX: ``log sum_j exp((h_j - h_y) / rho_y)``, in place of cross-entropy.

    Parameters
    ----------
    counts : array-like of shape (C,), Dataset or array of labels
        Class counts, or what holds the labels to be counted. An array of integers that
        contains a zero is taken for labels, since counts are positive.
    rho : array-like of shape (C,), optional
        Margins of your own; ``counts`` and what follows are then not used.
    total : "mean" or float, default="mean"
        The scale of the margins. "mean" makes their mean one, so that equal counts give
        cross-entropy to the last bit. A number is their sum; 1 is the paper's. The scale
        multiplies the learning rate: on long-tailed CIFAR-10 at a learning rate of 0.1 a small
        residual network reached 80.9 % with cross-entropy and 54.7 % with margins of sum one.
    power : float, default=1/3
        Margins are proportional to ``count^power``. 1/3 is the theory, 0 cross-entropy;
        worth a search.
    groups : int or array-like of shape (C,), optional
        Classes of one group share a margin, that of their mean count. A number n gives the
        n - 1 most frequent classes a group each, and the others the last.
    learnable : bool, default=False
        Learn the margins' proportions with the network; their sum stays.
    weight, ignore_index, reduction, label_smoothing
        As in ``nn.CrossEntropyLoss``.
    device, dtype
        Of the margins; the default dtype by default.

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
        counts: Any = None,
        rho: ArrayLike | None = None,
        total: str | float = "mean",
        power: float = 1 / 3,
        groups: Any = None,
        learnable: bool = False,
        *,
        label_smoothing: float = 0.0,
        **options: Any,
    ) -> None:
        super().__init__(counts, rho, total, power, groups, learnable, **options)
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        rest = (self.ignore_index, self.reduction, self.label_smoothing)
        if not self._is_cross_entropy():
            return table_loss(logits, target, Table(temperature=self.rho), self.class_weight, *rest)
        check_arguments(logits, target, self.reduction, self.label_smoothing)
        check_class_vector(self.rho, "rho", logits)
        ignored, reduction, smoothing = rest
        return nn.functional.cross_entropy(
            logits,
            target.long(),
            self.class_weight,
            ignore_index=ignored,
            reduction=reduction,
            label_smoothing=smoothing,
        )


class IMMAXHingeLoss(_MarginLoss):
    """IMMAX with the hinge, ``max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)``.

    Parameters as in ``IMMAXLoss``, without ``label_smoothing``. Its scores determine no
    probabilities: calibrate them.
    """

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return immax_hinge_loss(
            logits, target, self.rho, self.class_weight, self.ignore_index, self.reduction
        )


class IMMAXExponentialLoss(_ProbabilityLoss):
    """IMMAX with the exponential, ``sum_{j != y} exp((h_j - h_y) / rho_y)``.

    Parameters as in ``IMMAXLoss``, without ``label_smoothing``; ``form="max"`` takes the
    largest term instead of the sum, and then there are no probabilities.
    """

    link = "exponential"

    def __init__(self, *args: Any, form: str = "sum", **options: Any) -> None:
        super().__init__(*args, **options)
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


class IMMAXBinaryLoss(nn.Module):
    """Two classes on one logit, in place of ``nn.BCEWithLogitsLoss``.

    ``log(1 + e^{-h / rho_1})`` for a target of 1 and ``log(1 + e^{h / rho_0})`` for 0.

    Parameters
    ----------
    counts : array-like of shape (2,), Dataset or array of labels, optional
        Of class 0 and class 1.
    alpha : float, optional
        ``rho_1 / (rho_0 + rho_1)``, the paper's parameter, in place of counts.
    total, power
        As in ``IMMAXLoss``; with the default scale, ``alpha = 1/2`` is binary cross-entropy.
    weight : Tensor, optional
        Broadcasts against the losses.
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> criterion = IMMAXBinaryLoss(counts=[800, 100])
    >>> criterion.rho
    tensor([1.3333, 0.6667])
    >>> criterion.proba(torch.tensor([0.0]))
    tensor([0.3333])
    """

    rho: Tensor

    def __init__(
        self,
        counts: Any = None,
        alpha: float | None = None,
        total: str | float = "mean",
        power: float = 1 / 3,
        weight: Tensor | None = None,
        reduction: str = "mean",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if (counts is None) == (alpha is None):
            raise ValueError("one of counts and alpha must be given")
        if alpha is not None:
            if not 0 < alpha < 1:
                raise ValueError(f"alpha must be strictly between 0 and 1; got {alpha!r}")
            # Margins are proportional to counts to the power of one.
            margins = _margins(np.array([1 - alpha, alpha]), None, total, 1.0, None)
        else:
            margins = _margins(counts, None, total, power, None)
        if margins.size != 2:
            raise ValueError(f"counts must be those of two classes; got {margins.size}")
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer("rho", torch.tensor(margins, device=device, dtype=dtype))
        self.register_buffer("weight", weight)
        self.reduction = reduction

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return immax_binary_loss(logits, target, self.rho, self._buffers["weight"], self.reduction)

    @torch.no_grad()
    def proba(self, logits: Tensor) -> Tensor:
        """The probability of class 1."""
        rho = self.rho.to(logits.dtype)
        rise = nn.functional.softplus(logits / rho[1], threshold=1e9)
        fall = nn.functional.softplus(-logits / rho[0], threshold=1e9)
        return torch.sigmoid(rise - fall + rho[1].log() - rho[0].log())

    def predict(self, logits: Tensor, rule: str = "score", costs: Any = None) -> Tensor:
        """0 or 1: by the logit's sign, or with ``rule="bayes"`` by the least expected cost."""
        if rule == "score" and costs is None:
            return (logits >= 0).long()
        if rule != "bayes":
            raise ValueError(f"rule must be 'score' (without costs) or 'bayes'; got {rule!r}")
        p = self.proba(logits)
        return links.decide(torch.stack([1 - p, p], 1), costs)
