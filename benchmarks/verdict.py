"""The test behind the answer of ``immax compare``: error rates and power, by simulation.

python benchmarks/verdict.py [--repetitions 200]

Two methods see different columns of the same table, with the same information in both (or none at
all: pure noise), so that neither is better. How often is one of them called better, at a level of
5 %? Then the second has more information: how often is that found? "folds" is the t-test over
folds, corrected after Nadeau and Bengio; "rows" uses the variance over test rows alone; "both" is
what is used.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from immax.evaluation import statistics
from immax.evaluation.statistics import paired_gain, paired_p

FOLDS, GROUPS, COLUMNS = 5, 20, 6
TESTS = ("folds", "rows", "both")
METHODS: dict[str, Callable[[], Any]] = {
    "logistic regression": LogisticRegression,
    "trees": lambda: DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, random_state=0),
}


def accuracy(y: np.ndarray, p: np.ndarray, prior: float) -> float:  # noqa: ARG001
    """Return the share of right labels."""
    return float(((p > 0.5) == y).mean())


def balanced_accuracy(y: np.ndarray, p: np.ndarray, prior: float) -> float:
    """Return the mean recall of the rule that predicts the rare class above its share."""
    labels = p > prior
    return float((labels[y == 1].mean() + (~labels[y == 0]).mean()) / 2)


def average_precision(y: np.ndarray, p: np.ndarray, prior: float) -> float:  # noqa: ARG001
    """Return the mean precision at the positives."""
    own = y[np.argsort(-p, kind="stable")]
    return float((np.cumsum(own) / np.arange(1, len(own) + 1))[own == 1].mean())


def log_loss(y: np.ndarray, p: np.ndarray, prior: float) -> float:  # noqa: ARG001
    """Return the mean log-probability of the true class."""
    return float(np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-6, 1)).mean())


MEASURES = (accuracy, balanced_accuracy, average_precision, log_loss)


def p_values(
    rng: np.random.Generator, make: Callable[[], Any], n: int, prior: float, signals: tuple
) -> dict[tuple[str, str], float]:
    """Return the p-values of every test and measure on one table."""
    y = (rng.random(n) < prior).astype(int)
    X = rng.normal(size=(2, n, COLUMNS))
    for columns, signal in zip(X, signals, strict=True):
        columns[:, 0] += signal * y
    groups = np.empty(n, dtype=int)
    groups[np.argsort(y + rng.random(n) / 2)] = np.arange(n) % GROUPS
    full = np.zeros((len(MEASURES), 2, FOLDS))
    left_out = np.zeros((len(MEASURES), 2, GROUPS, FOLDS))
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    for fold, (train, test) in enumerate(splits.split(X[0], y)):
        rest = groups[test] != np.arange(GROUPS)[:, None]
        for method in range(2):
            model = make().fit(X[method][train], y[train])
            p = model.predict_proba(X[method][test])[:, 1] + 1e-9 * rng.random(len(test))
            for k, measure in enumerate(MEASURES):
                full[k, method, fold] = measure(y[test], p, prior)
                left_out[k, method, :, fold] = [
                    measure(y[test][keep], p[keep], prior) for keep in rest
                ]
    found = {}
    for k, measure in enumerate(MEASURES):
        d, groups_left = full[k, 1] - full[k, 0], left_out[k, 1] - left_out[k, 0]
        found[measure.__name__, "folds"] = paired_p(d, 1 / (FOLDS - 1))
        for test_name, weight in (("rows", 0.0), ("both", statistics.FOLD_WEIGHT)):
            found[measure.__name__, test_name] = _weighted(d, groups_left, weight)
    return found


def _weighted(d: np.ndarray, left_out: np.ndarray, weight: float) -> float:
    used = statistics.FOLD_WEIGHT
    statistics.FOLD_WEIGHT = weight
    try:
        return paired_gain(d, left_out, FOLDS).p
    finally:
        statistics.FOLD_WEIGHT = used


def main() -> None:
    """Print a table of how often a difference is called significant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    repetitions = parser.parse_args().repetitions
    warnings.simplefilter("ignore")
    settings = [
        ("pure noise", 300, 0.1, (0.0, 0.0)),
        ("equally good", 300, 0.1, (1.0, 1.0)),
        ("equally good", 1000, 0.1, (1.0, 1.0)),
        ("the second is better", 1000, 0.1, (1.0, 1.4)),
    ]
    print("| truth | rows | method | test | " + " | ".join(m.__name__ for m in MEASURES) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(MEASURES))
    for truth, n, prior, signals in settings:
        for title, make in METHODS.items():
            rng = np.random.default_rng(0)
            runs = [p_values(rng, make, n, prior, signals) for _ in range(repetitions)]
            for test in TESTS:
                rates = [np.mean([run[m.__name__, test] < 0.05 for run in runs]) for m in MEASURES]
                cells = " | ".join(f"{100 * rate:.1f} %" for rate in rates)
                print(f"| {truth} | {n} | {title} | {test} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
