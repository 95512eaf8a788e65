"""The points of a margin family that a search evaluates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from immax.arrays import Array
from immax.search.margin_family import MarginFamily, family_weights, full_grid, own_grid
from immax.search.results import CellResults

__all__ = ["explore_family"]


def explore_family(
    family: MarginFamily,
    counts: Array,
    n: int,
    evaluate: Callable[[Sequence[Array]], CellResults],
    max_points: int,
) -> tuple[list[Array], CellResults]:
    """Evaluate all combinations of parameters, or one parameter at a time if they are too many.

    In the latter case the search starts from the theory's margins and from equal ones, and passes
    over the parameters until none improves the best score.

    Parameters
    ----------
    family : MarginFamily
        The family of margins.
    counts : ndarray of shape (c,)
        Class counts.
    n : int
        Values of each parameter.
    evaluate : callable
        Returns the results of a sequence of points.
    max_points : int
        Upper bound on the number of points, though at least the two starts are evaluated.

    Returns
    -------
    points : list of ndarray
        The points that were evaluated; no two of them give the same margins and weights.
    results : CellResults
        Their results, in the same order.
    """
    axes = family.axes(counts, n)
    given = own_grid(family, counts, n) is not None
    if given or np.prod([float(axis.size) for axis in axes]) <= max(max_points, 1):
        points = _distinct(full_grid(family, counts, n), family, counts)
        return points, evaluate(points)
    points = _distinct([family.centre(counts), family.plain(counts)], family, counts)
    results = evaluate(points)
    current, improved = 0, True
    while improved and len(points) < max_points:
        improved = False
        for coordinate, axis in enumerate(axes):
            line = np.repeat(points[current][None, :], axis.size, axis=0)
            line[:, coordinate] = axis
            new = _distinct([*points, *line], family, counts)[len(points) : max(max_points, 0)]
            if not new:
                continue
            points += new
            results = CellResults.join([results, evaluate(new)])
            best = results.totals.max(axis=(1, 2))
            if best.max() > best[current] + 1e-12:
                current, improved = int(best.argmax()), True
    return points, results


def _distinct(points: Sequence[Array], family: MarginFamily, counts: Array) -> list[Array]:
    """Return the points whose margins or weights differ from those of all points before them."""
    seen: set[tuple[float, ...]] = set()
    distinct = []
    for point in points:
        margins, weights = family.margins(point, counts), family_weights(family, point, counts)
        key = tuple(np.concatenate([margins, weights]).round(10).tolist())
        if key not in seen:
            seen.add(key)
            distinct.append(point)
    return distinct
