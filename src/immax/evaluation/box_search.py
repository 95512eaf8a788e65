"""The paper's margin search for networks, one margin at a time around the theory's.

Its trials are known in advance, so that they can be cells of a plan: the theory's margins, and for
each margin a number of multiples of it while the others are the theory's. The choice takes the
best multiple of each margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_vectors import class_vector
from immax.margins import share_tail, tail_margins

__all__ = ["box_margins", "box_points", "combine_points", "is_box_search"]

Point = dict[str, float]
FACTOR = "factor_"
KEYS = ("groups", "width", "values", "total")


def is_box_search(grid: Mapping[str, object]) -> bool:
    """Return whether a grid, or a point of it, is that of the paper's search.

    Parameters
    ----------
    grid : mapping of str

    Returns
    -------
    bool
    """
    return "groups" in grid


def box_points(grid: Mapping[str, Sequence[float]]) -> list[Point]:
    """Return the trials of the search.

    Parameters
    ----------
    grid : mapping of str to sequence of float
        ``groups``, the number of margins, the last of which all rare classes share; ``values``,
        the number of multiples of each (10 by default); ``width``, half the width of the box (0.8
        by default); ``total``, the sums of the theory's margins that are tried, each with all
        multiples, where 0 is mean one (the default) and 1 the paper's scaling.

    Returns
    -------
    list of dict
        For each total, the theory's margins, and for each margin the multiples other than one.

    Examples
    --------
    >>> points = box_points({"groups": [2], "values": [3], "total": [1.0, 0.0]})
    >>> len(points), points[1]
    (10, {'groups': 2, 'total': 1.0, 'factor_0': 0.2})
    """
    unknown = set(grid) - set(KEYS)
    if unknown:
        raise ValueError(f"the search of margins has {', '.join(KEYS)}; got {sorted(unknown)}")
    groups, values = (_whole(grid, key, n) for key, n in (("groups", 1), ("values", 10)))
    width = float(grid.get("width", (0.8,))[0])
    if not 0 < width < 1:
        raise ValueError(f"width must lie strictly between 0 and 1; got {width!r}")
    points: list[Point] = []
    for total in grid.get("total", (0.0,)):
        middle: Point = {"groups": groups, "total": float(total)}
        points.append(middle)
        for group in range(groups):
            for factor in np.linspace(1 - width, 1 + width, values).round(10):
                if factor != 1:
                    points.append({**middle, f"{FACTOR}{group}": float(factor)})
    return points


def _whole(grid: Mapping[str, Sequence[float]], key: str, default: int) -> int:
    given = grid.get(key, (default,))
    if len(given) != 1 or int(given[0]) != given[0] or given[0] < 1:
        raise ValueError(f"{key} must be one whole number of at least 1; got {list(given)}")
    return int(given[0])


def box_margins(counts: ArrayLike, point: Mapping[str, float]) -> Vector:
    """Return the margins of a point of the search.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class.
    point : mapping of str to float
        As ``box_points`` and ``combine_points`` return it.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> box_margins([8000, 1000, 50], {"groups": 2, "total": 1.0, "factor_1": 0.5}).round(3)
    array([0.594, 0.102, 0.102])
    """
    m = class_vector(counts, "counts")
    n_groups = min(int(point["groups"]), m.size)
    factors = np.array([point.get(f"{FACTOR}{group}", 1.0) for group in range(n_groups)])
    total = point.get("total") or None
    return np.asarray(factors[share_tail(m, n_groups)] * tail_margins(m, n_groups, total=total))


def combine_points(points: Sequence[Mapping[str, float]], scores: Sequence[float]) -> Point:
    """Return the choice: the scale of the best point, and the best multiple of each margin.

    Parameters
    ----------
    points : sequence of mapping of str to float
        Points of the search.
    scores : sequence of float
        Their scores, higher is better. A tie goes to the theory's margin.

    Returns
    -------
    dict

    Examples
    --------
    >>> points = box_points({"groups": [2], "values": [2]})
    >>> combine_points(points, [0.5, 0.6, 0.4, 0.3, 0.55])
    {'groups': 2, 'total': 0.0, 'factor_0': 0.2, 'factor_1': 1.8}
    """
    best = points[int(np.argmax(scores))]
    own = [i for i, point in enumerate(points) if point["total"] == best["total"]]
    middle = {key: best[key] for key in ("groups", "total")}
    base = max((scores[i] for i in own if len(points[i]) == len(middle)), default=-np.inf)
    chosen: Point = dict(middle)
    for group in range(int(best["groups"])):
        name = f"{FACTOR}{group}"
        tried = [i for i in own if name in points[i]]
        winner = max(tried, key=lambda i: scores[i], default=None)
        if winner is not None and scores[winner] > base:
            chosen[name] = points[winner][name]
    return chosen
