"""The margins that make the uniform bound smallest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import class_vector, positive_number
from immax.theory.margin_losses import check_sample, margins_of
from immax.theory.terms import check_delta, complexity_factor, log_scales

__all__ = ["search_margins"]


def search_margins(
    scores: ArrayLike,
    y: ArrayLike,
    moments: ArrayLike,
    radii: ArrayLike,
    scale: float,
    delta: float = 0.05,
    n_samples: float | None = None,
    *,
    costs: ArrayLike | None = None,
    span: float | None = None,
    proof: str = "sharp",
) -> Array:
    """Return the margins that make the uniform bound smallest.

    The complexity is taken to be ``scale sqrt(sum_k costs_k^2 moments_k / rho_k^2)``. In
    ``1 / rho_k`` the empirical term is linear between two of the class's actual margins, and so
    the least value between them is known (up to the log-log term, which hardly moves there). The
    search goes through all of these, class by class in turns until nothing changes.

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
    costs : array-like of shape (c,), optional
        The cost of an error on each class.
    span : float, optional
        What multiplies the confidence term; by default the largest cost.
    proof : {"sharp", "paper"}, default="sharp"
        Which factor the complexity has.

    Returns
    -------
    ndarray of shape (c,)
    """
    largest = class_vector(radii, "radii")
    h, labels = check_sample(scores, y, largest.size)
    c, m = largest.size, labels.size
    weights = np.ones(c) if costs is None else class_vector(costs, "costs", c)
    squares = np.asarray(moments, dtype=np.float64)
    if squares.shape != (c,) or not np.isfinite(squares).all() or (squares < 0).any():
        raise ValueError(f"moments must be {c} numbers of at least 0; got {moments!r}")
    squares = squares * weights**2
    n = float(m if n_samples is None else n_samples)
    factor = complexity_factor(1 if h.ndim == 1 else c, True, proof)
    factor *= positive_number(scale, "scale") * np.sqrt(m / n)
    margins = margins_of(h, labels)
    curves = [_Curve(margins[labels == k], largest[k], weights[k] / m) for k in range(c)]
    confidence = _Confidence(
        n, c, check_delta(delta), float(weights.max()) if span is None else span
    )

    def descend(rho: Array) -> tuple[float, Array]:
        best = np.inf
        for _ in range(100):
            logs = log_scales(rho, largest)
            for k, curve in enumerate(curves):
                others = float(np.sum(np.delete(squares / rho**2, k)))
                rest = float(logs.sum() - logs[k])
                rho[k], value = curve.best(factor, squares[k], others, confidence, rest)
                logs[k] = log_scales(rho[k], largest[k])
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


class _Confidence:
    """The confidence term as a function of the sum of the log-log terms."""

    def __init__(self, n: float, c: int, delta: float, span: float) -> None:
        self._n, self._span = n, span
        self._base = ((c + 1) * np.log(2) + np.log(1 / delta)) / (2 * n)

    def of(self, logs: Array) -> Array:
        return np.asarray(3 * self._span * np.sqrt(self._base + logs / self._n))


class _Curve:
    """One class's empirical loss as a function of its margin, piece by piece.

    Between two actual margins the loss is ``(count - sum / rho)`` times the weight of a sample.
    """

    def __init__(self, margins: Array, largest: float, weight: float) -> None:
        positive = np.sort(margins[margins > 0])
        inside = np.unique(positive[positive < largest])
        # The first piece ends at the smallest margin, where no sample is below; the others begin
        # at a margin and end at the next one, or at the largest.
        self.begin = inside if inside.size else np.array([largest])
        self.end = np.append(inside[1:], largest) if inside.size else self.begin
        below = np.searchsorted(positive, self.begin, side="right" if inside.size else "left")
        self.sums = np.concatenate([[0.0], np.cumsum(positive)])[below] * weight
        self.counts = (margins.size - positive.size + below) * weight
        self.largest = largest
        self.rho = np.append(self.begin, largest)

    def at(self, rho: float) -> float:
        """Return the loss at a margin that is not below the first piece."""
        piece = min(int(np.searchsorted(self.end, rho, side="left")), self.end.size - 1)
        return float(self.counts[piece] - self.sums[piece] / rho)

    def best(
        self, factor: float, square: float, others: float, confidence: _Confidence, rest: float
    ) -> tuple[float, float]:
        """Return the best margin, and the sum of its terms of the bound.

        They are the loss, the confidence term and ``factor sqrt(others + square/rho^2)``;
        ``rest`` are the log-log terms of the other classes.
        """
        # With t = 1 / rho: the slope of factor sqrt(others + square t^2) is that of sums t.
        room = factor**2 * square - self.sums**2
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.sums * np.sqrt(others / np.where(room > 0, square * room, np.nan))
            turning = np.clip(np.nan_to_num(1 / t, nan=0.0), self.begin, self.end)
        best_rho, best_value = self.largest, np.inf
        for rho in (self.begin, turning, self.end):
            values = self.counts - self.sums / rho + factor * np.sqrt(others + square / rho**2)
            values = values + confidence.of(rest + log_scales(rho, self.largest))
            i = int(np.argmin(values))
            if values[i] < best_value:
                best_rho, best_value = float(rho[i]), float(values[i])
        return best_rho, best_value
