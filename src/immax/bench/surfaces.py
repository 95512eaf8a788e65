"""IMMAX over λ and the power of its margins, to see when margins help."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.bench.data import Split
from immax.bench.outcomes import SurfacePoint
from immax.evaluation.metrics import measure
from immax.evaluation.selection import LAMS, POWERS, Selection
from immax.links import by_score, immax_proba
from immax.margins import power_margins
from immax.search.cells import LinearFits, linear_path

__all__ = ["surface"]

TOL = 1e-4  # the largest suboptimality, as a share of the objective


def surface(split: Split, selection: Selection) -> tuple[SurfacePoint, ...]:
    """Fit IMMAX with every λ and every power of the class counts.

    Margins have mean one, so that λ has the same meaning for every power.

    Parameters
    ----------
    split : Split
    selection : Selection
        Its ``lams`` and ``powers`` are fitted; nothing is selected.

    Returns
    -------
    tuple of SurfacePoint
    """
    X, y, n_classes = split.X, split.y, len(split.class_names)
    powers = selection.powers or POWERS
    lams = sorted(selection.lams or LAMS, reverse=True)
    margins = [power_margins(split.counts, power) for power in powers]
    points = []
    fits = linear_path(
        X, y, LinearFits("logistic", tol=TOL), np.ones(len(y)), margins, None, lams, certify=True
    )
    for i, j, problem, theta in fits:
        train = float(np.mean(by_score(_columns(problem.scores(theta))) == y))
        tests = {}
        for name, (held, truth) in split.tests.items():
            scores = _columns(np.asarray(held @ theta[:, :-1].T + theta[:, -1]))
            proba = immax_proba(scores.astype(np.float64), margins[i])
            tests[name] = measure(truth, by_score(scores), proba, n_classes, split.counts)
            tests[name]["accuracy_bayes"] = float(np.mean(proba.argmax(axis=1) == truth))
        points.append(SurfacePoint(float(lams[j]), float(powers[i]), train, tests))
    return tuple(points)


def _columns(scores: Array) -> Array:
    """Return one column of scores for each class; models of two classes have one for class 1."""
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
