"""Bounds on the error of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.class_vectors import class_vector
from immax.theory.bounds import Bound, margin_bound, norm_cover, uniform_margin_bound
from immax.theory.hypotheses import hypothesis, unwrap_search
from immax.theory.margin_losses import label_numbers, margins_of, predictions, zero_one_loss
from immax.theory.margin_search import search_margins
from immax.theory.sample_features import describe_features, split_features
from immax.theory.targets import Target, target_of
from immax.theory.terms import check_delta, check_proof

__all__ = ["Certificate", "best_margins", "certificate", "split_certificate"]


@dataclass(frozen=True)
class Certificate:
    """Two bounds on the error of what a model predicts; ``print`` shows them with conditions.

    Attributes
    ----------
    own : Bound
        For the model's own margins, if these were fixed before the sample was seen; the norm
        that training found is paid for by a cover of norms.
    best : Bound
        For the margins that make the uniform bound smallest; nothing need be fixed before. Its
        ``rho`` is on the scale of a model of norm one.
    training_error : float
        On the samples of the bound; with costs, the mean cost of the errors, and with
        costs="balanced" the mean of the classes' error rates.
    n_samples : int
    delta : float
    conditions : tuple of str
        What both bounds assume besides independent samples.
    """

    own: Bound
    best: Bound
    training_error: float
    n_samples: int
    delta: float
    _parts: _Parts = field(repr=False)
    conditions: tuple[str, ...] = ()

    def samples_for(self, target: float = 0.5) -> float:
        """Return the number of samples that would bring ``best`` to a target.

        The samples' own margins are assumed to stay as they are; the margins of the bound are
        chosen anew for each number.

        Parameters
        ----------
        target : float, default=0.5
            The value that the bound should have.

        Returns
        -------
        float
            Infinity where the training error is not below the target, or more than 1e18 samples
            would be needed.
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
        target = self.best.target
        lines = [
            f"{target.capitalize()} on the {self.n_samples:,} samples: {self.training_error:.3f}. "
            f"Each of these holds with probability {1 - self.delta:g} over the sample:",
            f"- with the model's own margins: {self.own}. Holds if these were fixed before the "
            "sample was seen; the norm found by training is paid for by a cover of norms.",
            f"- with the best margins: {self.best}. Holds whatever was chosen afterwards.",
        ]
        lines += [f"Condition: {condition}" for condition in self.conditions]
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
        """Return the terms of the uniform bound as the best margins are scaled up and down.

        Parameters
        ----------
        n : int, default=60
            The number of scales.

        Returns
        -------
        dict of str to ndarray of shape (n,)
            The factors of the margins as "scale", and the terms "empirical", "complexity" and
            "confidence".
        """
        most = float((self._parts.radii / self.best.rho).min())
        factors = np.geomspace(0.05, max(min(20.0, most), 0.1), n)
        rho = np.minimum(factors[:, None] * self.best.rho[None, :], self._parts.radii)
        bounds = [self._parts.at(row) for row in rho]
        return {"scale": factors} | {
            name: np.array([getattr(bound, name) for bound in bounds])
            for name in ("empirical", "complexity", "confidence")
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the bound against the scale of the margins, its three terms stacked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
        """
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
        costs: ArrayLike | str | None,
        proof: str,
        n_blocks: int | None = None,
    ) -> None:
        self.scores, self.labels, self.costs, self.proof = scores, labels, costs, proof
        self.target: Target = target_of(costs, labels, n_classes)
        binary = scores.ndim == 1
        self.m, self.c = labels.size, n_classes
        self.moments = np.bincount(labels, norms**2, minlength=n_classes)
        self.scale = np.sqrt(1 if binary else n_classes) / self.m
        if n_blocks is not None:
            # For the l1 norm or that of groups, as in rademacher_l1 and rademacher_group.
            self.scale *= np.sqrt(2 * np.log(2 * n_blocks))
        # Margins of a model of norm one are at most the norms; their largest was not known before.
        radius, self.delta = norm_cover(float(norms.max()), delta)
        # Margins between classes are differences of two scores.
        self.radii = np.full(n_classes, radius * (1 if binary else np.sqrt(2)))

    def complexity(self, rho: Array) -> float:
        return float(self.scale * np.sqrt(np.sum(self.moments * (self.target.weights / rho) ** 2)))

    def at(self, rho: Array) -> Bound:
        given = (self.scores, self.labels, rho, self.complexity(rho), self.radii, self.delta)
        return uniform_margin_bound(*given, costs=self.costs, proof=self.proof)

    def error(self) -> float:
        wrong = zero_one_loss(self.scores, self.labels)
        return float(np.mean(self.target.weights[self.labels] * wrong))

    def best(self, n_samples: float | None = None) -> Bound:
        """Return the least bound, as if there were so many samples with the same margins."""
        given = (self.scores, self.labels, self.moments, self.radii, self.scale, self.delta)
        goal = {"costs": self.target.weights, "span": self.target.span, "proof": self.proof}
        bound = self.at(search_margins(*given, n_samples, **goal))  # type: ignore[arg-type]
        if n_samples is None:
            return bound
        shrink = float(np.sqrt(self.m / n_samples))
        return replace(
            bound, complexity=shrink * bound.complexity, confidence=shrink * bound.confidence
        )


def _parts(
    model: Any,
    X: Features,
    y: ArrayLike,
    delta: float,
    costs: ArrayLike | str | None = None,
    proof: str = "sharp",
) -> tuple[_Parts, float]:
    """Return what the bounds need, and the norm of the hypothesis that the model predicts by."""
    check_delta(delta)
    scores, norm, squares, n_blocks = hypothesis(model, X)
    labels = label_numbers(model, y, squares.size)
    n_classes = np.size(model.classes_)
    _check_predictions(model, X, scores)
    given = (scores / norm, labels, np.sqrt(squares), n_classes, delta, costs, check_proof(proof))
    return _Parts(*given, n_blocks), norm


def _check_predictions(model: Any, X: Features, scores: Array) -> None:
    """Refuse a model that does not predict the class of the highest (shifted) score."""
    predicted = label_numbers(model, model.predict(X), len(scores))
    wrong = predicted != predictions(scores)
    if not wrong.any():
        return
    own = np.abs(margins_of(scores[wrong], predicted[wrong]))
    if (own > 1e-6 * np.abs(scores).max()).any():  # not a tie, up to rounding
        raise ValueError(
            "predict does not choose the class of the highest score, which the bounds are for; "
            "certify its estimator, such as best_estimator_, with rule='score'"
        )


def best_margins(
    model: Any,
    X: Features,
    y: ArrayLike,
    delta: float = 0.05,
    costs: ArrayLike | str | None = None,
) -> Array:
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
    costs : array-like of shape (n_classes,) or "balanced", optional
        As in ``certificate``.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    model, X, _ = describe_features(model, X)
    parts, norm = _parts(model, X, y, delta, costs)
    return parts.best().rho * norm


def certificate(
    model: Any,
    X: Features,
    y: ArrayLike,
    delta: float = 0.05,
    costs: ArrayLike | str | None = None,
    *,
    proof: str = "sharp",
) -> Certificate:
    """Return bounds on the error of a fitted classifier, from the data it was fitted to.

    The bounds are for what ``predict`` does. With rule="bayes" and two classes or equal margins,
    the decisions are those of shifted scores; otherwise the model is refused. The bias is taken as
    the weight of a further feature that is one, so the norm is ``sqrt(||W||^2 + ||b||^2)``.
    Complexities are the data-dependent ones: the sum of the squared norms of the data, which for a
    kernel is the trace of the Gram matrix. For a linear classifier with ``penalty="l1"``,
    "elasticnet" or "group" the norm is that of the penalty, with the bias as a further coefficient
    or group, and the complexity is that of ``rademacher_l1`` or ``rademacher_group``.

    Parameters
    ----------
    model : fitted classifier
        ``IMMAXClassifier``, ``BaselineClassifier``, a linear classifier of scikit-learn with
        ``coef_`` and ``intercept_``, a kernel machine of two classes like its ``SVC`` (whose own
        margins are taken to be one) or of all classes jointly, a search for one of these, or a
        pipeline that ends in one.
    X, y
        The training data.
    delta : float
    costs : array-like of shape (n_classes,) or "balanced", optional
        Bound the mean cost of the errors, for costs of an error on each class; or, with "balanced",
        the mean of the classes' error rates. The model should then predict for these costs, as
        ``IMMAXClassifier(rule="bayes", costs=costs)`` does.
    proof : {"sharp", "paper"}, default="sharp"
        Our constants, or those that the paper prints.

    Returns
    -------
    Certificate

    Raises
    ------
    TypeError
        If the model is neither linear nor a kernel machine.
    ValueError
        If ``predict`` is not a rule of highest scores, such as rule="bayes" with three classes or
        more and unequal margins; the message names the alternatives.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from immax import IMMAXClassifier
    >>> X, y = make_blobs(4000, centers=[[-4, 0], [4, 0]], random_state=0)
    >>> found = certificate(IMMAXClassifier().fit(X, y), X, y)
    >>> found.best.vacuous, found.training_error
    (False, 0.0)
    """
    model, X, condition = describe_features(model, X)
    return _certified(model, X, y, delta, costs, proof, condition)


def _certified(
    model: Any,
    X: Features,
    y: ArrayLike,
    delta: float,
    costs: ArrayLike | str | None,
    proof: str,
    *conditions: str,
) -> Certificate:
    parts, norm = _parts(model, X, y, delta, costs, proof)
    given = getattr(unwrap_search(model).model, "margins_", np.ones(parts.c))
    rho = class_vector(given, "margins_", parts.c)
    ball, left = norm_cover(norm, delta)
    sample = (norm * parts.scores, parts.labels)
    complexity = ball * parts.complexity(rho)
    own = margin_bound(*sample, rho, complexity, left, costs=costs, proof=proof)
    if isinstance(costs, str):
        conditions += ("the bounds are for samples with these class counts.",)
    bounds = (own, parts.best(), parts.error(), parts.m, delta, parts)
    return Certificate(*bounds, conditions)


def split_certificate(
    model: Any,
    X: Features,
    y: ArrayLike,
    delta: float = 0.05,
    costs: ArrayLike | str | None = None,
    *,
    share: float = 0.5,
    random_state: int | np.random.RandomState | None = 0,
) -> Certificate:
    """Return bounds that hold although the features are computed from data: by a split.

    A scaler, an imputer or ``gamma="scale"`` that was fitted to the sample makes the features
    depend on it, and the theorems are for features that do not. Here they are fitted anew to one
    part of the sample; the classifier is fitted to all of it, and the bounds come from the other
    part. A rule that a search has found for an aim is kept: as a shift of the scores it is part of
    the bias, and the bounds are for all biases at once.

    Parameters
    ----------
    model : fitted classifier
        As in ``certificate``; mostly a pipeline. It is not changed: a copy is fitted, with the
        hyper-parameters that a search has chosen.
    X, y
        The training data, as the model takes them.
    delta, costs
        As in ``certificate``.
    share : float, default=0.5
        The share of the samples of each class that the features are computed from.
    random_state : int, RandomState instance or None, default=0
        Seed of the split.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from immax import IMMAXClassifier
    >>> X, y = make_blobs(8000, centers=[[-4, 0], [4, 0]], random_state=0)
    >>> model = make_pipeline(StandardScaler(), IMMAXClassifier()).fit(X, y)
    >>> split_certificate(model, X, y).n_samples
    4000
    """
    fitted, features, rest, condition = split_features(model, X, y, share, random_state)
    return _certified(fitted, features, np.asarray(y)[rest], delta, costs, "sharp", condition)
