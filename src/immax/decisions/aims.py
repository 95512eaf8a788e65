"""What decisions are for: metrics of labels, costs, constraints and budgets.

An aim is a small immutable object. It says how good a confusion matrix is (higher is better) and,
where theory has a closed form, which decisions are best for given probabilities. A further aim is
one class and one row of ``AIMS``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.decisions.confusion import (
    f_scores,
    jaccard_scores,
    mean_over_classes,
    precisions,
    recalls,
)
from immax.decisions.plain_rules import check_costs

__all__ = [
    "AIMS",
    "MCC",
    "Accuracy",
    "Aim",
    "BalancedAccuracy",
    "Budget",
    "Costs",
    "FBeta",
    "GMean",
    "Jaccard",
    "Kappa",
    "LogLoss",
    "PrecisionAt",
    "RecallAt",
]

AVERAGES = ("binary", "macro", "micro")


def _share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {value!r}")


class Aim(ABC):
    """The base of all aims.

    Attributes
    ----------
    two_classes : bool
        Whether the aim makes sense for two classes only.
    constrained : bool
        Whether values below zero say that a constraint is not met.
    """

    two_classes: ClassVar[bool] = False
    constrained: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The aim as it is shown."""

    @abstractmethod
    def value(self, confusion: Array, positive: int = 1) -> Array:
        """Return how good confusion matrices are, the higher the better.

        Parameters
        ----------
        confusion : ndarray of shape (..., c, a)
            Rows are true classes, columns decisions.
        positive : int, default=1
            The class that aims for two classes are about.

        Returns
        -------
        ndarray of shape (...)
        """

    def gains(self, classes: Array, prior: Array) -> Array | None:  # noqa: ARG002
        """Return what each decision gains for each true class, if theory says so.

        The decision of the largest expected gain is then the best one, whatever the data.

        Parameters
        ----------
        classes : ndarray of shape (c,)
        prior : ndarray of shape (c,)
            The share of each class.

        Returns
        -------
        ndarray of shape (c, a), or None
        """
        return None


@dataclass(frozen=True)
class Accuracy(Aim):
    """The share of right decisions: predict the most probable class."""

    @property
    def name(self) -> str:
        return "accuracy"

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        hits = np.trace(confusion, axis1=-2, axis2=-1)
        return np.asarray(hits / confusion.sum(axis=(-2, -1)))

    def gains(self, classes: Array, prior: Array) -> Array:  # noqa: ARG002
        return np.eye(len(classes))


@dataclass(frozen=True)
class LogLoss(Accuracy):
    """Good probabilities; labels are those of the most probable class."""

    @property
    def name(self) -> str:
        return "log_loss"


@dataclass(frozen=True)
class BalancedAccuracy(Aim):
    """The mean recall of the classes: weigh probabilities by the inverse of the class shares."""

    @property
    def name(self) -> str:
        return "balanced_accuracy"

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        return np.asarray(np.nanmean(recalls(confusion), axis=-1))

    def gains(self, classes: Array, prior: Array) -> Array:  # noqa: ARG002
        return np.diag(1 / prior)


@dataclass(frozen=True)
class Costs(Aim):
    """The least expected cost.

    Parameters
    ----------
    costs : array-like of shape (c,) or (c, c), or dict by label
        What an error on each class costs, or what predicting class j costs when k is true, at
        (k, j), in the order of the classes. A dict may name the costs of errors by label.
    abstain : float, optional
        What it costs not to decide. By default every sample is decided.

    Examples
    --------
    >>> Costs([1.0, 10.0]).matrix(np.array(["ok", "fraud"]))
    array([[ 0.,  1.],
           [10.,  0.]])
    """

    costs: ArrayLike | Mapping[object, float]
    abstain: float | None = None

    @property
    def name(self) -> str:
        return "costs"

    def __post_init__(self) -> None:
        if isinstance(self.costs, Mapping):
            values = np.asarray(list(self.costs.values()), dtype=np.float64)
        else:
            try:
                values = np.asarray(self.costs, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"costs must be numbers; got {self.costs!r}") from error
        if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[0] != values.shape[1]):
            raise ValueError(
                "costs must have one entry per class, or one row and column per class; got shape "
                f"{values.shape}"
            )
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(f"costs must be finite and not negative; got {self.costs!r}")
        if not values.any():
            raise ValueError("costs are all zero: no decision is better than another")
        if self.abstain is not None and not (np.isfinite(self.abstain) and self.abstain >= 0):
            raise ValueError(f"abstain must be a finite cost of at least 0; got {self.abstain!r}")

    def matrix(self, classes: Array) -> Array:
        """Return the cost of every decision for every true class, shape (c, a).

        Parameters
        ----------
        classes : ndarray of shape (c,)
            In whose order the matrix is.

        Returns
        -------
        ndarray of shape (c, c), or (c, c + 1) if there is a cost of abstaining
        """
        labels = list(classes.tolist())
        given = self.costs
        if isinstance(given, Mapping):
            unknown = [label for label in given if label not in labels]
            missing = [label for label in labels if label not in given]
            if unknown or missing:
                raise ValueError(
                    f"costs must name each of the classes {labels}; unknown labels: {unknown}, "
                    f"classes without a cost: {missing}"
                )
            given = [given[label] for label in labels]
        costs = check_costs(given, len(labels))
        if self.abstain is not None:
            costs = np.column_stack([costs, np.full(len(labels), float(self.abstain))])
        return costs

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        if isinstance(self.costs, Mapping):
            raise ValueError("costs by label have no order: take costs in the order of the classes")
        costs = self.matrix(np.arange(confusion.shape[-2]))
        total = confusion.sum(axis=(-2, -1))
        return np.asarray(-(confusion * costs).sum(axis=(-2, -1)) / total)

    def for_classes(self, classes: Array) -> Costs:
        """Return the same costs in the order of the classes.

        Parameters
        ----------
        classes : ndarray of shape (c,)

        Returns
        -------
        Costs
        """
        matrix = self.matrix(classes)[:, : len(classes)]
        return Costs(tuple(map(tuple, matrix.tolist())), self.abstain)

    def gains(self, classes: Array, prior: Array) -> Array:  # noqa: ARG002
        return -self.matrix(classes)


@dataclass(frozen=True)
class FBeta(Aim):
    """The F-score: of one class, the mean over classes, or of all decisions together.

    Parameters
    ----------
    beta : float, default=1.0
        How much more recall counts than precision.
    average : {"binary", "macro", "micro"}, default="binary"
    """

    beta: float = 1.0
    average: str = "binary"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.beta) and self.beta > 0):
            raise ValueError(f"beta must be a positive number; got {self.beta!r}")
        if self.average not in AVERAGES:
            raise ValueError(f"average must be one of {', '.join(AVERAGES)}; got {self.average!r}")

    @property
    def name(self) -> str:
        return f"f{self.beta:g}" + ("" if self.average == "binary" else f"_{self.average}")

    @property
    def two_classes(self) -> bool:  # type: ignore[override]
        return self.average == "binary"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        if self.average == "micro":  # every error is a false positive and a false negative
            return Accuracy().value(confusion)
        scores = f_scores(confusion, self.beta)
        if self.average == "binary":
            return np.asarray(scores[..., positive])
        return mean_over_classes(scores, confusion)

    def gains(self, classes: Array, prior: Array) -> Array | None:  # noqa: ARG002
        return np.eye(len(classes)) if self.average == "micro" else None


@dataclass(frozen=True)
class Jaccard(Aim):
    """The Jaccard index of one class, or the mean over classes."""

    average: str = "binary"

    def __post_init__(self) -> None:
        if self.average not in AVERAGES[:2]:
            raise ValueError(f"average must be 'binary' or 'macro'; got {self.average!r}")

    @property
    def name(self) -> str:
        return "jaccard" if self.average == "binary" else "jaccard_macro"

    @property
    def two_classes(self) -> bool:  # type: ignore[override]
        return self.average == "binary"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        scores = jaccard_scores(confusion)
        if self.average == "binary":
            return np.asarray(scores[..., positive])
        return mean_over_classes(scores, confusion)


@dataclass(frozen=True)
class MCC(Aim):
    """Matthews' correlation coefficient, for two classes or many."""

    @property
    def name(self) -> str:
        return "mcc"

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        total = confusion.sum(axis=(-2, -1))
        rows, columns = confusion.sum(axis=-1), confusion.sum(axis=-2)
        hits = np.trace(confusion, axis1=-2, axis2=-1)
        covariance = hits * total - (rows * columns).sum(axis=-1)
        spread = (total**2 - (rows**2).sum(axis=-1)) * (total**2 - (columns**2).sum(axis=-1))
        spread = np.sqrt(np.maximum(spread, 0))
        tiny = 1e-12 * total**2
        return np.divide(covariance, spread, out=np.zeros_like(total), where=spread > tiny)


@dataclass(frozen=True)
class GMean(Aim):
    """The geometric mean of the recalls."""

    @property
    def name(self) -> str:
        return "gmean"

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        own = recalls(confusion)
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(np.nanmean(np.log(own), axis=-1)))


@dataclass(frozen=True)
class Kappa(Aim):
    """Cohen's kappa: agreement beyond chance."""

    @property
    def name(self) -> str:
        return "kappa"

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        total = confusion.sum(axis=(-2, -1))
        observed = np.trace(confusion, axis1=-2, axis2=-1) / total
        chance = (confusion.sum(axis=-1) * confusion.sum(axis=-2)).sum(axis=-1) / total**2
        return np.divide(observed - chance, 1 - chance, out=np.zeros_like(total), where=chance < 1)


@dataclass(frozen=True)
class RecallAt(Aim):
    """The highest recall of the positive class whose precision is high enough.

    Parameters
    ----------
    precision : float
        The precision to keep, strictly between 0 and 1.
    """

    precision: float
    two_classes: ClassVar[bool] = True
    constrained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _share("precision", self.precision)

    @property
    def name(self) -> str:
        return f"recall at precision {self.precision:g}"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        own = precisions(confusion)[..., positive]
        recall = np.nan_to_num(recalls(confusion)[..., positive])
        return np.where(own >= self.precision, recall, own - 1)


@dataclass(frozen=True)
class PrecisionAt(Aim):
    """The highest precision of the positive class whose recall is high enough.

    Parameters
    ----------
    recall : float
        The recall to keep, strictly between 0 and 1.
    """

    recall: float
    two_classes: ClassVar[bool] = True
    constrained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _share("recall", self.recall)

    @property
    def name(self) -> str:
        return f"precision at recall {self.recall:g}"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        recall = np.nan_to_num(recalls(confusion)[..., positive])
        own = precisions(confusion)[..., positive]
        return np.where(recall >= self.recall, own, recall - 1)


@dataclass(frozen=True)
class Budget(Aim):
    """The most positives among as many samples as can be followed up.

    Parameters
    ----------
    share : float, optional
        Of all samples, strictly between 0 and 1: a threshold that this share of the samples
        exceeds.
    count : int, optional
        In place of a share: the most probable ``count`` rows of every call of ``predict``.
    """

    share: float | None = None
    count: int | None = None
    two_classes: ClassVar[bool] = True
    constrained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.share is None) == (self.count is None):
            raise ValueError("a budget needs either a share or a count")
        if self.share is not None:
            _share("share", self.share)
        elif int(self.count) != self.count or self.count < 1:  # type: ignore[arg-type]
            raise ValueError(f"count must be a positive whole number; got {self.count!r}")

    @property
    def name(self) -> str:
        if self.share is not None:
            return f"budget of {100 * self.share:g} %"
        return f"budget of {self.count}"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        total = confusion.sum(axis=(-2, -1))
        predicted = confusion.sum(axis=-2)[..., positive]
        most = total * self.share if self.share is not None else float(self.count or 0)
        recall = np.nan_to_num(recalls(confusion)[..., positive])
        return np.where(predicted <= most + 1e-9 * total, recall, (most - predicted) / total)


AIMS: Mapping[str, Callable[[], Aim]] = MappingProxyType(
    {
        "accuracy": Accuracy,
        "balanced_accuracy": BalancedAccuracy,
        "f1": FBeta,
        "f2": lambda: FBeta(2.0),
        "f0.5": lambda: FBeta(0.5),
        "f1_macro": lambda: FBeta(average="macro"),
        "macro_f1": lambda: FBeta(average="macro"),
        "f1_micro": lambda: FBeta(average="micro"),
        "mcc": MCC,
        "matthews_corrcoef": MCC,
        "gmean": GMean,
        "jaccard": Jaccard,
        "jaccard_macro": lambda: Jaccard("macro"),
        "kappa": Kappa,
        "log_loss": LogLoss,
        "neg_log_loss": LogLoss,
    }
)
"""Aims by name; scikit-learn's names of the same metrics are among them."""
