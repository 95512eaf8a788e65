"""IMMAX over λ and the margins' power, nothing selected: to see when margins help."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.bench.data import Split
from immax.evaluation.metrics import measure
from immax.evaluation.selection import LAMS, POWERS, Selection
from immax.links import by_score, immax_proba
from immax.margins import power_margins
from immax.search.cells import linear_path

__all__ = ["surface"]

TOL = 1e-4  # what an objective may be off by, as a share of it


def surface(split: Split, selection: Selection) -> dict[str, Any]:
    """Measures of every λ and power: a list of points, with the training accuracy of each.

    Margins have mean one, so that λ means the same for every power.
    """
    X, y, n_classes = split.X, split.y, len(split.class_names)
    powers = selection.powers or POWERS
    lams = sorted(selection.lams or LAMS, reverse=True)
    margins = [power_margins(split.counts, power) for power in powers]
    points = []
    fits = linear_path(X, y, "logistic", np.ones(len(y)), margins, lams, TOL, certify=True)
    for i, j, problem, theta in fits:
        point: dict[str, Any] = {
            "lam": float(lams[j]),
            "power": float(powers[i]),
            "train": float(np.mean(by_score(_flat(problem.scores(theta))) == y)),
            "tests": {},
        }
        for name, (held, truth) in split.tests.items():
            scores = _flat(np.asarray(held @ theta[:, :-1].T + theta[:, -1]))
            proba = immax_proba(scores.astype(np.float64), margins[i])
            point["tests"][name] = measure(truth, by_score(scores), proba, n_classes)
            point["tests"][name]["accuracy_bayes"] = float(np.mean(proba.argmax(axis=1) == truth))
        points.append(point)
    return {"surface": points}


def _flat(scores: Any) -> Any:
    return scores[:, 0] if scores.shape[1] == 1 else scores
