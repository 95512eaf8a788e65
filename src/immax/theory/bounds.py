"""Margin bounds on the error: what the theory promises, term by term.

They hold with probability 1 - delta over the sample for every hypothesis of a family that was
fixed before it was seen. A ball whose radius was found by training is not such a family;
``norm_cover`` accounts for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import class_vector, positive_number
from immax.theory.complexities import check_complexity
from immax.theory.margin_losses import check_sample, margin_loss
from immax.theory.targets import target_of
from immax.theory.terms import (
    check_delta,
    check_proof,
    complexity_factor,
    deviation,
    uniform_deviation,
)

__all__ = ["Bound", "margin_bound", "norm_cover", "uniform_margin_bound"]


@dataclass(frozen=True)
class Bound:
    """An upper bound on the error, or on the mean cost, and what it is made of.

    Attributes
    ----------
    empirical : float
        The empirical margin loss, or the surrogate risk in its place.
    complexity : float
        The complexity with its factor.
    confidence : float
        What depends on delta, and on the margins where they may be chosen afterwards.
    theorem : str
        Where it comes from in the paper.
    rho : ndarray of shape (c,)
    costs : ndarray of shape (c,) or None
        The costs of errors on the classes; None where all are one.
    proof : str
        "sharp" for our constants, "paper" for the printed ones.
    target : str
        What is bounded: "error", "cost" or "balanced error".
    """

    empirical: float
    complexity: float
    confidence: float
    theorem: str
    rho: Array
    costs: Array | None = None
    proof: str = "sharp"
    target: str = "error"

    @property
    def total(self) -> float:
        """The bound itself, the sum of its three terms."""
        return self.empirical + self.complexity + self.confidence

    @property
    def trivial(self) -> float:
        """What no classifier exceeds: 1, or the largest cost."""
        return float(self.costs.max()) if self.target == "cost" and self.costs is not None else 1.0

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing: an error never exceeds one, nor a cost the largest cost."""
        return self.total >= self.trivial

    def __str__(self) -> str:
        verdict = "vacuous" if self.vacuous else f"{self.target} at most {self.total:.3f}"
        return (
            f"{verdict}: {self.empirical:.3f} empirical + {self.complexity:.3f} complexity + "
            f"{self.confidence:.3f} confidence (Theorem {self.theorem})"
        )


def margin_bound(
    scores: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    complexity: float,
    delta: float = 0.05,
    *,
    costs: ArrayLike | str | None = None,
    expected: bool = False,
    proof: str = "sharp",
) -> Bound:
    """Return a bound for margins that were fixed before the sample was seen.

    Two classes and one-dimensional scores (Theorem margin-bound-binary)::

        error <= margin loss + 2 complexity + 3 sqrt(log(2 / delta) / (2 m))

    Scores of shape (m, c) (Theorem margin-bound-multi): 4 in place of 2, or ``4 sqrt(2 c)`` as the
    paper prints it. With costs w, the bound is on the mean of ``w_y`` over the errors: each
    sample's margin loss is multiplied by its cost, the complexity is that of the margins
    ``rho / w``, and the confidence term is multiplied by the largest cost.

    Parameters
    ----------
    scores : array-like of shape (m,) or (m, c)
        Of the sample.
    y : array-like of int, shape (m,)
    rho : array-like of shape (c,)
    complexity : float or Complexity
        The class-sensitive Rademacher complexity of the family for this rho (for ``rho / costs``,
        with costs), or a bound on it, as the functions ``rademacher_*`` return it. One that
        belongs to other margins, or to a single score where there are c of them, is refused.
    delta : float
    costs : array-like of shape (c,) or "balanced", optional
        The cost of an error on each class, fixed before the sample was seen. "balanced" bounds the
        mean of the classes' error rates: the costs are then ``m / (c m_k)``, and the largest cost
        becomes the root of the mean square of the samples' costs. That bound holds for given
        class counts.
    expected : bool, default=False
        Whether the complexity is the expected one, over samples of this size, instead of that of
        this sample; the confidence term is then ``sqrt(log(1 / delta) / (2 m))``.
    proof : {"sharp", "paper"}, default="sharp"
        Our constants, or those that the paper prints.

    Returns
    -------
    Bound

    Examples
    --------
    >>> bound = margin_bound([2.0] * 900 + [-1.0] * 100, [1] * 900 + [0] * 100, [1.0, 1.0], 0.05)
    >>> round(bound.total, 3), bound.theorem
    (0.229, 'margin-bound-binary')
    """
    margins = class_vector(rho, "rho")
    h, labels = check_sample(scores, y, margins.size)
    goal = target_of(costs, labels, margins.size)
    proof = check_proof(proof)
    n_scores = 1 if h.ndim == 1 else margins.size
    own = check_complexity(complexity, n_scores, margins / goal.weights)
    return Bound(
        float((goal.weights[labels] * margin_loss(h, labels, margins)).mean()),
        complexity_factor(n_scores, False, proof) * own,
        deviation(labels.size, check_delta(delta), expected, goal.span),
        "margin-bound-binary" if n_scores == 1 else "margin-bound-multi",
        margins,
        None if costs is None else goal.weights,
        proof,
        goal.name,
    )


def uniform_margin_bound(
    scores: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    complexity: float,
    radii: ArrayLike,
    delta: float = 0.05,
    proof: str = "sharp",
    *,
    costs: ArrayLike | str | None = None,
    expected: bool = False,
) -> Bound:
    """Return a bound for all margins at once, so that rho may be chosen after seeing the sample.

    Two classes (Theorem margin-bound-binary-uniform), with the log-log terms under one root::

        error <= margin loss + 4 complexity
                 + 3 sqrt((log(8 / delta) / 2 + sum_k log log_2(2 r_k / rho_k)) / m)

    For scores of shape (m, c), 4 becomes 8, and 8 becomes ``2^(c + 1)``
    (Theorem margin-bound-multi-uniform). See ``immax.theory.terms`` for the constants.

    Parameters
    ----------
    scores, y, rho, complexity, delta, costs, expected
        As in ``margin_bound``.
    radii : array-like of shape (c,)
        The largest margins that may be chosen, fixed before the sample was seen;
        ``rho_k <= radii_k``. For hypotheses of norm 1, a bound on the norms of the data.
    proof : {"sharp", "paper"}, default="sharp"
        Our constants, or those that the paper prints: ``4 c sqrt(2 c)`` for c scores, and a
        separate root for each margin, without the factor 3 that the complexity of the sample
        needs.

    Returns
    -------
    Bound

    Examples
    --------
    >>> h, y = [2.0] * 900 + [-1.0] * 100, [1] * 900 + [0] * 100
    >>> round(uniform_margin_bound(h, y, [1.0, 1.0], 0.05, radii=[2.0, 2.0]).total, 3)
    0.388
    """
    margins = class_vector(rho, "rho")
    largest = class_vector(radii, "radii", margins.size)
    if (margins > largest * (1 + 1e-12)).any():
        k = int(np.argmax(margins > largest * (1 + 1e-12)))
        raise ValueError(
            f"rho must not exceed radii; class {k} has {margins[k]:g} and {largest[k]:g}"
        )
    proof = check_proof(proof)
    fixed = margin_bound(
        scores, y, margins, complexity, delta, costs=costs, expected=expected, proof=proof
    )
    h, labels = check_sample(scores, y)
    n_scores = 1 if h.ndim == 1 else margins.size
    span = target_of(costs, labels, margins.size).span
    return replace(
        fixed,
        complexity=complexity_factor(n_scores, True, proof) * float(complexity),
        confidence=uniform_deviation(labels.size, largest, margins, delta, expected, span, proof),
        theorem=fixed.theorem + "-uniform",
    )


def norm_cover(norm: float, delta: float, unit: float = 1.0) -> tuple[float, float]:
    """Return the ball to bound, and the delta left, when the norm was found by training.

    Balls of radius ``unit 2^j`` for all integers j share delta by ``(2/3) / ((|j|+1)(|j|+2))``,
    which sums to one over them. A norm falls into the next larger ball. In the bound this costs
    a factor of at most 2 in the complexity, and in the confidence about
    ``2 log(|log_2 norm| + 2)``: a log-log term.

    Parameters
    ----------
    norm : float
        The norm that training found.
    delta : float
        The probability with which the bound may fail.
    unit : float, default=1.0
        The radius of ball zero.

    Returns
    -------
    radius : float
        The radius of the ball.
    delta : float
        The share of delta that is left for it.

    Examples
    --------
    >>> norm_cover(3.0, 0.05)  # the ball of radius 4, j = 2
    (4.0, 0.002777777777777778)
    """
    norm, unit = positive_number(norm, "norm"), positive_number(unit, "unit")
    j = int(np.ceil(np.log2(norm / unit)))
    j += unit * 2.0**j < norm  # rounding
    share = (2 / 3) / ((abs(j) + 1) * (abs(j) + 2))
    return unit * 2.0**j, check_delta(delta) * share
