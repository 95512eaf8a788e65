"""Margin bounds on the error: what the theory promises, term by term.

All are in the form with the empirical complexity, and hold with probability 1 - delta over the
sample for every hypothesis of a family that was fixed before it was seen. A norm found by training
is no such family: ``norm_cover`` says what to pay for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.margins import class_vector, positive_number
from immax.theory.margin_losses import check_sample, margin_loss, margins_of

__all__ = ["Bound", "margin_bound", "norm_cover", "search_margins", "uniform_margin_bound"]


@dataclass(frozen=True)
class Bound:
    """An upper bound on the error, and what it is made of.

    Attributes
    ----------
    empirical : float
        The empirical margin loss.
    complexity : float
        The complexity with its factor.
    confidence : float
        What depends on delta, and on the margins where they may be chosen afterwards.
    theorem : str
        Where it comes from in the paper.
    rho : ndarray of shape (c,)
    """

    empirical: float
    complexity: float
    confidence: float
    theorem: str
    rho: Array

    @property
    def total(self) -> float:
        return self.empirical + self.complexity + self.confidence

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing: an error is never above one."""
        return self.total >= 1

    def __str__(self) -> str:
        verdict = "vacuous" if self.vacuous else f"error at most {self.total:.3f}"
        return (
            f"{verdict}: {self.empirical:.3f} empirical + {self.complexity:.3f} complexity + "
            f"{self.confidence:.3f} confidence (Theorem {self.theorem})"
        )


def check_delta(delta: float) -> float:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be strictly between 0 and 1; got {delta!r}")
    return float(delta)


def _check(complexity: float) -> float:
    if not (np.isfinite(complexity) and complexity >= 0):
        raise ValueError(f"complexity must be a number of at least 0; got {complexity!r}")
    return float(complexity)


def margin_bound(
    scores: ArrayLike, y: ArrayLike, rho: ArrayLike, complexity: float, delta: float = 0.05
) -> Bound:
    """Return a bound for margins that were fixed before the sample was seen.

    Two classes and one-dimensional scores (Theorem margin-bound-binary)::

        error <= margin loss + 2 complexity + 3 sqrt(log(2 / delta) / (2 m))

    Scores of shape (m, c) (Theorem margin-bound-multi): ``4 sqrt(2 c)`` in place of 2.

    Parameters
    ----------
    scores : array-like of shape (m,) or (m, c)
        Of the sample.
    y : array-like of int, shape (m,)
    rho : array-like of shape (c,)
    complexity : float
        The empirical class-sensitive Rademacher complexity of the family for this rho, or a
        bound on it, from ``immax.theory.rademacher``.
    delta : float

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
    m = labels.size
    binary = h.ndim == 1
    return Bound(
        float(margin_loss(h, labels, margins).mean()),
        (2 if binary else 4 * np.sqrt(2 * margins.size)) * _check(complexity),
        3 * float(np.sqrt(np.log(2 / check_delta(delta)) / (2 * m))),
        "margin-bound-binary" if binary else "margin-bound-multi",
        margins,
    )


def uniform_factor(n_classes: int, binary: bool, proof: bool = True) -> float:
    """Return what multiplies the complexity in the uniform bounds.

    For two classes on one score it is 4. For c classes Theorem margin-bound-multi-uniform says
    ``4 c sqrt(2 c)``; its proof, which goes as that of two classes does, halves all margins
    together and so doubles the factor of the bound for fixed margins: ``8 sqrt(2 c)``, which is
    less when c > 2 and the same when c = 2.
    """
    if binary:
        return 4.0
    return float((8 if proof else 4 * n_classes) * np.sqrt(2 * n_classes))


def uniform_confidence(
    m: float, radii: Array, rho: Array, delta: float, proof: bool = True
) -> float:
    """``3 sum_k sqrt(log log_2(2 r_k / rho_k) / m) + 3 sqrt(log(2^(c+1) / delta) / (2 m))``.

    The theorems have no 3 before the sum. Their proof pays ``sqrt(log k / m)`` for the k-th of a
    sequence of margins, which is right for the expected complexity, whose deviations are smaller by
    a factor 3. For the empirical one, ``delta / k^2`` in ``3 sqrt(log(2 / delta) / (2 m))`` gives
    ``3 sqrt(log k / m)``. ``proof=False`` is the statement.
    """
    c = rho.size
    price = _penalty_terms(rho, radii, m).sum() * (1 if proof else 1 / 3)
    return float(price + 3 * np.sqrt(((c + 1) * np.log(2) + np.log(1 / delta)) / (2 * m)))


def _penalty_terms(rho: Array, radii: Array | float, m: float) -> Array:
    """For each margin, of having been chosen from ``r / 2^j``, j = 1, 2, …; nothing at r."""
    scales = np.log2(2 * radii / rho)
    return np.asarray(3 * np.sqrt(np.log(np.maximum(scales, 1)) / m))


def uniform_margin_bound(
    scores: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    complexity: float,
    radii: ArrayLike,
    delta: float = 0.05,
    proof: bool = True,
) -> Bound:
    """Return a bound for all margins at once, so that rho may be chosen after seeing the sample.

    Two classes (Theorem margin-bound-binary-uniform)::

        error <= margin loss + 4 complexity + 3 sum_k sqrt(log log_2(2 r_k / rho_k) / m)
                 + 3 sqrt(log(8 / delta) / (2 m))

    For more see ``uniform_factor``; ``8`` becomes ``2^(c + 1)``. The 3 before the sum is not in
    the theorems: see ``uniform_confidence``.

    Parameters
    ----------
    scores, y, rho, complexity, delta
        As in ``margin_bound``.
    radii : array-like of shape (c,)
        The largest margins that may be chosen, fixed before the sample was seen;
        ``rho_k <= radii_k``. For hypotheses of norm 1, a bound on the norms of the data.
    proof : bool, default=True
        What the proof gives where it differs from the statement: a smaller factor of the
        complexity for c > 2, and a larger price of the margins.

    Returns
    -------
    Bound
    """
    margins = class_vector(rho, "rho")
    largest = class_vector(radii, "radii", margins.size)
    if (margins > largest * (1 + 1e-12)).any():
        k = int(np.argmax(margins > largest * (1 + 1e-12)))
        raise ValueError(
            f"rho must not exceed radii; class {k} has {margins[k]:g} and {largest[k]:g}"
        )
    fixed = margin_bound(scores, y, margins, complexity, delta)
    h, labels = check_sample(scores, y)
    binary = h.ndim == 1
    return replace(
        fixed,
        complexity=uniform_factor(margins.size, binary, proof) * _check(complexity),
        confidence=uniform_confidence(labels.size, largest, margins, check_delta(delta), proof),
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


def search_margins(
    scores: ArrayLike,
    y: ArrayLike,
    moments: ArrayLike,
    radii: ArrayLike,
    scale: float,
    delta: float = 0.05,
    n_samples: float | None = None,
) -> Array:
    """Return the margins that make the uniform bound smallest.

    The complexity is taken to be ``scale sqrt(sum_k moments_k / rho_k^2)``. In ``1 / rho_k`` the
    empirical term is linear between two of the class's actual margins, and so the least value
    between them is known (up to the log-log term, which hardly moves there). The search goes
    through all of these, class by class in turns until nothing changes.

    Parameters
    ----------
    scores, y, delta
        As in ``uniform_margin_bound``.
    moments : array-like of shape (c,)
        ``sum over class k of ||x_i||^2``, or ``m_k r_k^2``.
    radii : array-like of shape (c,)
    scale : float
        What else is in the complexity: ``norm sqrt(c) / m`` (``norm / m`` for two classes).
    n_samples : float, optional
        As if there were so many samples with the same margins, instead of m.

    Returns
    -------
    ndarray of shape (c,)
    """
    largest = class_vector(radii, "radii")
    h, labels = check_sample(scores, y, largest.size)
    c, m = largest.size, labels.size
    squares = np.asarray(moments, dtype=np.float64)
    if squares.shape != (c,) or not np.isfinite(squares).all() or (squares < 0).any():
        raise ValueError(f"moments must be {c} numbers of at least 0; got {moments!r}")
    check_delta(delta)
    n = float(m if n_samples is None else n_samples)
    factor = uniform_factor(c, h.ndim == 1) * positive_number(scale, "scale") * np.sqrt(m / n)
    margins = margins_of(h, labels)
    curves = [_Curve(margins[labels == k], largest[k], m, n) for k in range(c)]

    def descend(rho: Array) -> tuple[float, Array]:
        best = np.inf
        for _ in range(100):
            for k, curve in enumerate(curves):
                others = float(np.sum(np.delete(squares / rho**2, k)))
                rho[k], value = curve.best(factor, squares[k], others)
            value += sum(curve.at(rho[j]) for j, curve in enumerate(curves[:-1]))
            if value >= best * (1 - 1e-12):
                break
            best = value
        return best, rho

    # The bound is not convex in all margins together: several starts.
    middles = np.array([np.median(curve.rho) for curve in curves])
    smallest = np.array([curve.rho[0] for curve in curves])
    results = [descend(start.copy()) for start in (largest, middles, smallest)]
    return min(results, key=lambda result: result[0])[1]


class _Curve:
    """One class's part of the bound as a function of its margin, piece by piece.

    Between two actual margins the loss is ``(count - sum / rho) / m``.
    """

    def __init__(self, margins: Array, largest: float, m: int, n: float) -> None:
        positive = np.sort(margins[margins > 0])
        inside = np.unique(positive[positive < largest])
        # The first piece ends at the smallest margin, where no sample is below; the others begin
        # at a margin and end at the next one, or at the largest.
        self.begin = inside if inside.size else np.array([largest])
        self.end = np.append(inside[1:], largest) if inside.size else self.begin
        below = np.searchsorted(positive, self.begin, side="right" if inside.size else "left")
        self.sums = np.concatenate([[0.0], np.cumsum(positive)])[below] / m
        self.counts = (margins.size - positive.size + below) / m
        self.largest, self.n = largest, n
        self.rho = np.append(self.begin, largest)

    def _value(self, rho: Array, pieces: slice | Array | int = slice(None)) -> Array:
        price = _penalty_terms(rho, self.largest, self.n)
        return np.asarray(self.counts[pieces] - self.sums[pieces] / rho + price)

    def at(self, rho: float) -> float:
        """Loss and price at a margin that is not below the first piece."""
        piece = min(int(np.searchsorted(self.end, rho, side="left")), self.end.size - 1)
        return float(self._value(np.array(rho), piece))

    def best(self, factor: float, square: float, others: float) -> tuple[float, float]:
        """Return the best margin, and the value plus ``factor sqrt(others + square / rho^2)``."""
        # With t = 1 / rho: the slope of factor sqrt(others + square t^2) is that of sums t.
        room = factor**2 * square - self.sums**2
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.sums * np.sqrt(others / np.where(room > 0, square * room, np.nan))
            turning = np.clip(np.nan_to_num(1 / t, nan=0.0), self.begin, self.end)
        best_rho, best_value = self.largest, np.inf
        for rho in (self.begin, turning, self.end):
            values = self._value(rho) + factor * np.sqrt(others + square / rho**2)
            i = int(np.argmin(values))
            if values[i] < best_value:
                best_rho, best_value = float(rho[i]), float(values[i])
        return best_rho, best_value
