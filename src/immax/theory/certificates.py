"""Bounds on the error of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.theory.bounds import (
    Bound,
    check_delta,
    margin_bound,
    norm_cover,
    search_margins,
    uniform_margin_bound,
)
from immax.theory.hypotheses import hypothesis
from immax.theory.margin_losses import label_numbers, zero_one_loss

__all__ = ["Certificate", "best_margins", "certificate"]


@dataclass(frozen=True)
class Certificate:
    """Two bounds on the error of a model; ``print`` shows them with their conditions.

    Attributes
    ----------
    own : Bound
        For the model's own margins, if these were fixed before the sample was seen; the norm
        that training found is paid for by a cover of norms.
    best : Bound
        For the margins that make the uniform bound smallest; nothing need be fixed before. Its
        ``rho`` is on the scale of a model of norm one.
    training_error : float
    n_samples : int
    delta : float
    """

    own: Bound
    best: Bound
    training_error: float
    n_samples: int
    delta: float
    _parts: _Parts = field(repr=False)

    def samples_for(self, target: float = 0.5) -> float:
        """How many samples would bring ``best`` to the target if their margins stayed as they are.

        The margins of the bound are chosen anew for each number. Infinity where the training
        error is not below the target.
        """
        if self.training_error >= target:
            return float("inf")
        low, high = 1.0, float(self.n_samples)
        while self._parts.best(high).total > target:
            low, high = high, 4 * high
            if high > 1e18:
                return float("inf")
        while high > 1.001 * low:
            middle = np.sqrt(low * high)
            if self._parts.best(middle).total > target:
                low = middle
            else:
                high = middle
        return float(np.ceil(high))

    def __str__(self) -> str:
        lines = [
            f"Error on the {self.n_samples:,} samples: {self.training_error:.3f}. Each of these "
            f"holds with probability {1 - self.delta:g} over the sample:",
            f"- with the model's own margins: {self.own}. Holds if these were fixed before the "
            "sample was seen; the norm found by training is paid for by a cover of norms.",
            f"- with the best margins: {self.best}. Holds whatever was chosen afterwards.",
        ]
        if self.best.vacuous:
            needed = self.samples_for(0.5)
            how_many = (
                f"about {needed:,.0f} samples would bring the second to 0.5 if their margins "
                "were like these"
                if np.isfinite(needed)
                else "more samples like these would not bring it to 0.5: too many are wrong"
            )
            lines.append(f"The bound is vacuous, which says nothing about the model; {how_many}.")
        return "\n".join(lines)

    def curve(self, n: int = 60) -> dict[str, Array]:
        """Return the terms of the uniform bound as the best margins are scaled up and down."""
        most = float((self._parts.radii / self.best.rho).min())
        factors = np.geomspace(0.05, max(min(20.0, most), 0.1), n)
        rho = np.minimum(factors[:, None] * self.best.rho[None, :], self._parts.radii)
        bounds = [self._parts.at(row) for row in rho]
        return {"scale": factors} | {
            name: np.array([getattr(bound, name) for bound in bounds])
            for name in ("empirical", "complexity", "confidence")
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the bound against the margins, its three terms stacked; returns the axes."""
        from immax.plots.bound_curve import plot_bound_curve

        return plot_bound_curve(self, ax)


class _Parts:
    """All that the uniform bound needs to be evaluated at other margins."""

    def __init__(
        self,
        scores: Array,
        labels: Array,
        norms: Array,
        n_classes: int,
        delta: float,
        n_blocks: int | None = None,
    ) -> None:
        self.scores, self.labels = scores, labels
        binary = scores.ndim == 1
        self.m, self.c = labels.size, n_classes
        self.moments = np.bincount(labels, norms**2, minlength=n_classes)
        self.scale = np.sqrt(1 if binary else n_classes) / self.m
        if n_blocks is not None:
            # The l1 norm or that of groups: see rademacher_l1 and rademacher_group.
            self.scale *= np.sqrt(2 * np.log(2 * n_blocks))
        # Margins of a model of norm one are at most the norms; their largest was not known before.
        radius, self.delta = norm_cover(float(norms.max()), delta)
        # Margins between classes are differences of two scores.
        self.radii = np.full(n_classes, radius * (1 if binary else np.sqrt(2)))

    def complexity(self, rho: Array) -> float:
        return float(self.scale * np.sqrt(np.sum(self.moments / rho**2)))

    def at(self, rho: Array) -> Bound:
        sample = self.scores, self.labels
        return uniform_margin_bound(*sample, rho, self.complexity(rho), self.radii, self.delta)

    def best(self, n_samples: float | None = None) -> Bound:
        """Return the least bound, as if there were so many samples with the same margins."""
        sample = self.scores, self.labels
        rho = search_margins(*sample, self.moments, self.radii, self.scale, self.delta, n_samples)
        bound = self.at(rho)
        if n_samples is None:
            return bound
        shrink = float(np.sqrt(self.m / n_samples))
        return replace(
            bound, complexity=shrink * bound.complexity, confidence=shrink * bound.confidence
        )


def _parts(model: Any, X: Features, y: ArrayLike, delta: float) -> tuple[_Parts, float]:
    """Return what the bounds need, and the model's norm."""
    check_delta(delta)
    if getattr(model, "rule", "score") != "score":
        raise ValueError(
            "the bounds are for predictions by the highest score; the model's rule is "
            f"{model.rule!r}: model.set_params(rule='score') needs no new fit"
        )
    scores, norm, squares, n_blocks = hypothesis(model, X)
    labels = label_numbers(model, y, squares.size)
    n_classes = np.size(model.classes_)
    parts = _Parts(scores / norm, labels, np.sqrt(squares), n_classes, delta, n_blocks)
    return parts, norm


def best_margins(model: Any, X: Features, y: ArrayLike, delta: float = 0.05) -> Array:
    """Return the margins of a fitted model that make the uniform bound smallest.

    On the scale of the model's scores. See ``certificate`` for the arguments.

    Parameters
    ----------
    model : fitted classifier
        As in ``certificate``.
    X, y
        The training data.
    delta : float, default=0.05
        The probability with which the bound may fail.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    parts, norm = _parts(model, X, y, delta)
    return parts.best().rho * norm


def certificate(model: Any, X: Features, y: ArrayLike, delta: float = 0.05) -> Certificate:
    """Return bounds on the error of a fitted classifier, from the data it was fitted to.

    The bias is taken as the weight of a further feature that is one, so the norm is
    ``sqrt(||W||^2 + ||b||^2)``. Complexities are the data-dependent ones: the sum of the squared
    norms of the data, which for a kernel is the trace of the Gram matrix. For a linear classifier
    with ``penalty="l1"``, "elasticnet" or "group" the norm is that of the penalty, with the bias as
    a further coefficient or group, and the complexity is that of ``rademacher_l1`` or
    ``rademacher_group``.

    Parameters
    ----------
    model : fitted classifier
        ``IMMAXClassifier``, ``BaselineClassifier``, a linear classifier of scikit-learn with
        ``coef_`` and ``intercept_``, or a kernel machine like its ``SVC`` for two classes (whose
        own margins are taken to be one).
    X, y
        The training data.
    delta : float

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from immax import IMMAXClassifier
    >>> X, y = make_blobs(4000, centers=[[-4, 0], [4, 0]], random_state=0)
    >>> found = certificate(IMMAXClassifier().fit(X, y), X, y)
    >>> found.best.vacuous, found.training_error
    (False, 0.0)
    """
    parts, norm = _parts(model, X, y, delta)
    rho = np.asarray(getattr(model, "margins_", np.ones(parts.c)), dtype=np.float64)
    ball, left = norm_cover(norm, delta)
    own = margin_bound(norm * parts.scores, parts.labels, rho, ball * parts.complexity(rho), left)
    error = float(zero_one_loss(parts.scores, parts.labels).mean())
    return Certificate(own, parts.best(), error, parts.m, delta, parts)
