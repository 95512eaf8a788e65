"""IMMAX over λ and the margins' power, nothing selected: to see when margins help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from immax.bench.data import Split
from immax.bench.methods import LAMS, POWERS
from immax.bench.metrics import measure
from immax.linear import immax_risk
from immax.links import by_score, immax_proba
from immax.margins import power_margins
from immax.solvers import Problem, solve

__all__ = ["surface"]


def surface(split: Split, selection: Mapping[str, Any]) -> dict[str, Any]:
    """Measures of every λ and power: a list of points, with the training accuracy of each.

    Margins have mean one, so that λ means the same for every power.
    """
    X, y, n_classes = split.X, split.y, len(split.class_names)
    share = np.full(len(y), 1 / len(y), dtype=X.dtype)
    points = []
    for power in selection["powers"] or POWERS:
        rho = power_margins(split.counts, power) * n_classes
        start = None
        for lam in sorted(selection["lams"] or LAMS, reverse=True):
            risk = immax_risk("logistic", "auto", y, rho, share)
            problem = Problem(X, risk, float(lam))
            start = solve(problem, start=start, tol=1e-4, max_iter=2000, polish=False).theta
            said = by_score(_flat(problem.scores(start)))
            point: dict[str, Any] = {
                "lam": float(lam),
                "power": float(power),
                "train": float(np.mean(said == y)),
                "tests": {},
            }
            for name, (held, truth) in split.tests.items():
                scores = _flat(np.asarray(held @ start[:, :-1].T + start[:, -1]))
                proba = immax_proba(scores.astype(np.float64), rho)
                point["tests"][name] = measure(truth, by_score(scores), proba, n_classes)
                point["tests"][name]["accuracy_bayes"] = float(
                    np.mean(proba.argmax(axis=1) == truth)
                )
            points.append(point)
    return {"surface": points}


def _flat(scores: Any) -> Any:
    return scores[:, 0] if scores.shape[1] == 1 else scores
