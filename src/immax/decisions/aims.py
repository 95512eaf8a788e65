"""What decisions are for: metrics of labels, costs, constraints and budgets.

An aim is a small immutable object. It says how good a confusion matrix is (higher is better) and,
where theory has a closed form, which decisions are best for given probabilities. A further aim is
one class and one row of ``AIMS``. Costs and aims with a constraint have modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from immax.arrays import Array
from immax.decisions.aim import Aim, TotalsAim
from immax.decisions.confusion import (
    Totals,
    f_scores,
    jaccard_scores,
    mean_over_classes,
    recalls,
)
from immax.decisions.constrained_aims import Budget, PrecisionAt, RecallAt
from immax.decisions.costs import Costs
from immax.validation import check_positive

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


@dataclass(frozen=True)
class Accuracy(TotalsAim):
    """The share of right decisions: predict the most probable class."""

    @property
    def name(self) -> str:
        return "accuracy"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:  # noqa: ARG002
        return np.asarray(totals.hits.sum(axis=-1) / totals.samples.sum(axis=-1))

    def gains(self, classes: Array, prior: Array) -> Array:  # noqa: ARG002
        return np.eye(len(classes))


@dataclass(frozen=True)
class LogLoss(Accuracy):
    """Good probabilities; labels are those of the most probable class."""

    @property
    def name(self) -> str:
        return "log_loss"


@dataclass(frozen=True)
class BalancedAccuracy(TotalsAim):
    """The mean recall of the classes: weigh probabilities by the inverse of the class shares."""

    @property
    def name(self) -> str:
        return "balanced_accuracy"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:  # noqa: ARG002
        return np.asarray(np.nanmean(recalls(totals), axis=-1))

    def gains(self, classes: Array, prior: Array) -> Array:  # noqa: ARG002
        return np.diag(1 / prior)


@dataclass(frozen=True)
class FBeta(TotalsAim):
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
        check_positive("beta", self.beta)
        if self.average not in AVERAGES:
            raise ValueError(f"average must be one of {', '.join(AVERAGES)}; got {self.average!r}")

    @property
    def name(self) -> str:
        return f"f{self.beta:g}" + ("" if self.average == "binary" else f"_{self.average}")

    @property
    def two_classes(self) -> bool:  # type: ignore[override]
        """Whether the aim is for two classes only, which it is with average="binary"."""
        return self.average == "binary"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:
        if self.average == "micro":  # every error is a false positive and a false negative
            return Accuracy().value_of_totals(totals)
        scores = f_scores(totals, self.beta)
        if self.average == "binary":
            return np.asarray(scores[..., positive])
        return mean_over_classes(scores, totals)

    def gains(self, classes: Array, prior: Array) -> Array | None:  # noqa: ARG002
        return np.eye(len(classes)) if self.average == "micro" else None


@dataclass(frozen=True)
class Jaccard(TotalsAim):
    """The Jaccard index of one class, or the mean over classes.

    Parameters
    ----------
    average : {"binary", "macro"}, default="binary"
    """

    average: str = "binary"

    def __post_init__(self) -> None:
        if self.average not in AVERAGES[:2]:
            raise ValueError(f"average must be 'binary' or 'macro'; got {self.average!r}")

    @property
    def name(self) -> str:
        return "jaccard" if self.average == "binary" else "jaccard_macro"

    @property
    def two_classes(self) -> bool:  # type: ignore[override]
        """Whether the aim is for two classes only, which it is with average="binary"."""
        return self.average == "binary"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:
        scores = jaccard_scores(totals)
        if self.average == "binary":
            return np.asarray(scores[..., positive])
        return mean_over_classes(scores, totals)


@dataclass(frozen=True)
class MCC(TotalsAim):
    """Matthews' correlation coefficient, for two classes or many."""

    @property
    def name(self) -> str:
        return "mcc"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:  # noqa: ARG002
        hits, rows, columns = totals.hits.sum(axis=-1), totals.samples, totals.predictions
        total = rows.sum(axis=-1)
        covariance = hits * total - (rows * columns).sum(axis=-1)
        spread = (total**2 - (rows**2).sum(axis=-1)) * (total**2 - (columns**2).sum(axis=-1))
        spread = np.sqrt(np.maximum(spread, 0))
        tiny = 1e-12 * total**2
        return np.divide(covariance, spread, out=np.zeros_like(total), where=spread > tiny)


@dataclass(frozen=True)
class GMean(TotalsAim):
    """The geometric mean of the recalls."""

    @property
    def name(self) -> str:
        return "gmean"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:  # noqa: ARG002
        own = recalls(totals)
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(np.nanmean(np.log(own), axis=-1)))


@dataclass(frozen=True)
class Kappa(TotalsAim):
    """Cohen's kappa: agreement beyond chance."""

    @property
    def name(self) -> str:
        return "kappa"

    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:  # noqa: ARG002
        total = totals.samples.sum(axis=-1)
        observed = totals.hits.sum(axis=-1) / total
        chance = (totals.samples * totals.predictions).sum(axis=-1) / total**2
        return np.divide(observed - chance, 1 - chance, out=np.zeros_like(total), where=chance < 1)


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
