"""Scikit-learn's scorers of labels as aims."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names

from immax.arrays import Array, Features
from immax.decisions.aims import Aim
from immax.plain_rules import highest_argmax
from immax.routing import SampleMetadata

__all__ = ["ScorerAim", "known_scorers", "scorer_aim", "search_by_calls"]

MOST_THRESHOLDS = 200
QUICK_THRESHOLDS = 24
MOST_PASSES = 3
Evaluate = Callable[[Array], float]


@dataclass(frozen=True)
class ScorerAim(Aim):
    """A scorer of scikit-learn that looks at labels; higher is better.

    Rules for it are found by calling it, which takes longer than for the aims of this package.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``, and ``sample_weight=...`` if it takes weights.
    label : str, default="scorer"
        Its name, as it is shown.
    X : {array-like, sparse matrix, data frame} of shape (n, d), optional
        What scorers that look at features are given; zeros by default.
    metadata : SampleMetadata, optional
        What the scorer is given with scikit-learn's metadata routing; by default the weights.
    """

    scorer: Callable[..., float]
    label: str = "scorer"
    X: Features = None
    metadata: SampleMetadata | None = None

    @property
    def name(self) -> str:
        return self.label

    @property
    def takes_weights(self) -> bool:
        """Whether the scorer takes ``sample_weight``."""
        known = inspect.signature(self.scorer).parameters
        return "sample_weight" in known or any(
            own.kind is own.VAR_KEYWORD for own in known.values()
        )

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        """Raise TypeError: a scorer needs labels, not counts.

        Parameters
        ----------
        confusion : ndarray of shape (..., c, a)
            Not used.
        positive : int, default=1
            Not used.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(f"the scorer {self.name!r} needs labels, not a confusion matrix")

    def value_of_labels(self, y: Array, labels: Array, weight: Array | None = None) -> float:
        """Return the score of labels.

        Parameters
        ----------
        y, labels : ndarray of shape (n,)
        weight : ndarray of shape (n,), optional
            Not used if the scorer takes no weights.

        Returns
        -------
        float
        """
        options = {} if weight is None or not self.takes_weights else {"sample_weight": weight}
        if self.metadata is not None:
            options = dict(self.metadata.values)
        model = _Labels(labels, np.unique(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # of rules that are only tried
            X = np.zeros((len(y), 1)) if self.X is None else self.X
            return float(self.scorer(model, X, y, **options))


class _Labels(ClassifierMixin, BaseEstimator):
    """A classifier that predicts labels which are known already."""

    def __init__(self, labels: Array, classes: Array) -> None:
        self.labels = labels
        self.classes = classes

    @property
    def classes_(self) -> Array:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Features) -> Array:  # noqa: ARG002
        return np.asarray(self.labels)


class _AskedLabels(_Labels):
    """One that notices whether it is asked for anything but labels."""

    def __init__(self, labels: Array, classes: Array) -> None:
        super().__init__(labels, classes)
        self.asked = False

    def __getattr__(self, name: str) -> Any:
        if name in ("predict_proba", "predict_log_proba", "decision_function"):
            self.asked = True
        raise AttributeError(name)


def scorer_aim(scoring: str | Callable[..., float]) -> ScorerAim:
    """Return a scorer of labels, by name or as it is, as an aim.

    Parameters
    ----------
    scoring : str or callable
        As in scikit-learn.

    Returns
    -------
    ScorerAim

    Raises
    ------
    ValueError
        If the scorer looks at scores or probabilities, which no rule changes.

    Examples
    --------
    >>> scorer_aim("precision_macro").name
    'precision_macro'
    """
    aim = ScorerAim(get_scorer(scoring), scoring if isinstance(scoring, str) else "scorer")
    y = np.array([0, 1, 0, 1])
    model = _AskedLabels(y, y)
    with suppress(Exception):  # it may be for other labels and features than these
        aim.scorer(model, np.zeros((len(y), 1)), y)
    if model.asked:
        raise ValueError(
            f"the scorer {aim.name!r} looks at scores or probabilities, which no rule changes"
        )
    return aim


def known_scorers() -> list[str]:
    """Return the names of scikit-learn's scorers.

    Returns
    -------
    list of str
    """
    return list(get_scorer_names())


def search_by_calls(
    log_p: Array, evaluate: Evaluate, start: Array, quantiles: int = MOST_THRESHOLDS
) -> Array:
    """Return the offsets ``b`` of ``argmax_k (log p_k + b_k)`` with the best score.

    Parameters
    ----------
    log_p : ndarray of shape (n, c)
        Logarithms of probabilities, -inf where these are zero.
    evaluate : callable
        From decisions, shape (n,), to a score. NaN, where it is not defined, is the lowest.
    start : ndarray of shape (c,)
    quantiles : int, default=200
        Resolution of the values that are tried for each class and pass. Where there are more
        values, a coarse grid of them is tried, and then a fine one beside the best.

    Returns
    -------
    ndarray of shape (c,)
    """

    def score(offsets: Array) -> float:
        reached = evaluate(highest_argmax(log_p + offsets))
        return -math.inf if math.isnan(reached) else reached

    offsets = start.copy()
    best = score(offsets)
    classes = range(1, log_p.shape[1]) if log_p.shape[1] == 2 else range(log_p.shape[1])
    for _ in range(1 if log_p.shape[1] == 2 else MOST_PASSES):
        before = best
        for k in classes:
            scores = log_p + offsets
            scores[:, k] = -np.inf
            behind = np.unique(scores.max(axis=1) - log_p[:, k])
            behind = behind[np.isfinite(behind)]  # others are decided for k always, or never
            if not behind.size:
                continue
            middles = (behind[1:] + behind[:-1]) / 2
            tried = np.r_[behind[0] - 1, middles, behind[-1] + 1]
            steps = [tried.size] if tried.size <= quantiles else _steps(quantiles)
            low, high = 0, tried.size - 1
            for count in steps:
                ranks = np.unique(np.linspace(low, high, count).round().astype(int))
                reached = np.array([score(_replaced(offsets, k, tried[i])) for i in ranks])
                top = int(reached.argmax())
                if reached[top] > best + 1e-12:
                    best = float(reached[top])
                    offsets = _replaced(offsets, k, tried[ranks[top]])
                low, high = ranks[max(top - 1, 0)], ranks[min(top + 1, ranks.size - 1)]
        if best <= before + 1e-9:
            break
    return offsets


def _steps(quantiles: int) -> list[int]:
    """Return the sizes of a coarse and a fine grid, for a resolution of one in ``quantiles``."""
    size = math.isqrt(2 * quantiles) + 1
    return [size, size]


def _replaced(offsets: Array, k: int, value: float) -> Array:
    """Return the offsets with another value for class k."""
    trial = offsets.copy()
    trial[k] = value
    return trial
