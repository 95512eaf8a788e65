"""The test behind the answer of ``immax compare``: error rates and power, by simulation.

python benchmarks/verdict.py [--repetitions 200] [--truth "equally good"]

Two methods see different columns of the same table, with the same information in both (or none at
all: pure noise), so that neither is better. How often is one of them called better, at a level of
5 %? Then the second is truly better, because it has more information, or because it is a tree and
the information is in a product of two columns: how often is that found, and how often is the first
one called better? "folds" is the t-test over folds, corrected after Nadeau and Bengio; "rows" uses
the variance over test rows alone; "both" is what is used. "repeats" is the same with up to five
repeats of the split, which go on while the answer is open, as with ``--max-repeats 5``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from immax.compare.verdict import LEVEL, MAX_OPEN_P, REPEAT_CORRECTION
from immax.evaluation import statistics
from immax.evaluation.statistics import PairedGain, paired_gain, paired_p

FOLDS, GROUPS, COLUMNS, REPEATS = 5, 20, 6, 5
TESTS = ("folds", "rows", "both", "repeats")
PRIOR = 0.1


def make_tree() -> DecisionTreeClassifier:
    """Return a small tree."""
    return DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, random_state=0)


@dataclass(frozen=True)
class Truth:
    """What is true of two methods.

    Attributes
    ----------
    name, title : str
        What is true, and the methods.
    rows : int
    makers : tuple of two callables
        The methods.
    signals : tuple of two floats
        How far apart the classes are in the columns of each method.
    product : float, default=0.0
        How far the product of two columns, which both methods see, moves the log-odds.
    """

    name: str
    title: str
    rows: int
    makers: tuple[Callable[[], Any], Callable[[], Any]]
    signals: tuple[float, float]
    product: float = 0.0

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns of both methods, and labels."""
        if self.product:
            columns = rng.normal(size=(self.rows, COLUMNS))
            odds = -3 + columns[:, 2] + self.product * columns[:, 0] * columns[:, 1]
            y = rng.random(self.rows) < 1 / (1 + np.exp(-odds))
            return np.stack([columns, columns]), y.astype(int)
        y = (rng.random(self.rows) < PRIOR).astype(int)
        X = rng.normal(size=(2, self.rows, COLUMNS))
        for columns, signal in zip(X, self.signals, strict=True):
            columns[:, 0] += signal * y
        return X, y


LOGISTIC, TREES = (LogisticRegression, LogisticRegression), (make_tree, make_tree)
TRUTHS = (
    Truth("pure noise", "logistic regression", 300, LOGISTIC, (0.0, 0.0)),
    Truth("pure noise", "trees", 300, TREES, (0.0, 0.0)),
    Truth("equally good", "logistic regression", 300, LOGISTIC, (1.0, 1.0)),
    Truth("equally good", "trees", 300, TREES, (1.0, 1.0)),
    Truth("equally good", "logistic regression", 1000, LOGISTIC, (1.0, 1.0)),
    Truth("equally good", "trees", 1000, TREES, (1.0, 1.0)),
    Truth("more information", "logistic regression", 1000, LOGISTIC, (1.0, 1.4)),
    Truth("more information", "trees", 1000, TREES, (1.0, 1.4)),
    Truth("trees are better", "a tree", 1000, (LogisticRegression, make_tree), (0.0, 0.0), 3.0),
)


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


class Differences:
    """The differences of two methods on the folds of one table after the other split of it."""

    def __init__(self, rng: np.random.Generator, truth: Truth) -> None:
        self._rng, self._truth = rng, truth
        self._X, self._y = truth.sample(rng)
        n = len(self._y)
        self._groups = np.empty(n, dtype=int)
        self._groups[np.argsort(self._y + rng.random(n) / 2)] = np.arange(n) % GROUPS
        self.full = np.zeros((len(MEASURES), 0))
        self.left_out = np.zeros((len(MEASURES), GROUPS, 0))

    def add_repeat(self) -> None:
        """Split the rows once more."""
        full = np.zeros((len(MEASURES), 2, FOLDS))
        left_out = np.zeros((len(MEASURES), 2, GROUPS, FOLDS))
        seed = int(self._rng.integers(2**31))
        splits = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        y, prior = self._y, float(self._y.mean())
        for fold, (train, test) in enumerate(splits.split(self._X[0], y)):
            rest = self._groups[test] != np.arange(GROUPS)[:, None]
            for method, make in enumerate(self._truth.makers):
                model = make().fit(self._X[method][train], y[train])
                p = model.predict_proba(self._X[method][test])[:, 1]
                p = p + 1e-9 * self._rng.random(len(test))
                for k, measure in enumerate(MEASURES):
                    full[k, method, fold] = measure(y[test], p, prior)
                    left_out[k, method, :, fold] = [
                        measure(y[test][keep], p[keep], prior) for keep in rest
                    ]
        self.full = np.hstack([self.full, full[:, 1] - full[:, 0]])
        self.left_out = np.concatenate([self.left_out, left_out[:, 1] - left_out[:, 0]], axis=2)

    def gain(self, k: int, weight: float = statistics.FOLD_WEIGHT) -> PairedGain:
        """Return by how much the second method is better, with a weight of folds."""
        used = statistics.FOLD_WEIGHT
        statistics.FOLD_WEIGHT = weight
        try:
            return paired_gain(self.full[k], self.left_out[k], FOLDS)
        finally:
            statistics.FOLD_WEIGHT = used


def decide(rng: np.random.Generator, truth: Truth) -> dict[str, np.ndarray]:
    """Return for every test which method is called better by each measure: 1, -1, or 0."""
    table = Differences(rng, truth)
    table.add_repeat()
    each = range(len(MEASURES))
    found = {
        "folds": [(paired_p(d, 1 / (FOLDS - 1)), d.mean()) for d in table.full],
        "rows": [(gain.p, gain.mean) for gain in (table.gain(k, 0.0) for k in each)],
        "both": [(gain.p, gain.mean) for gain in (table.gain(k) for k in each)],
    }
    last = list(found["both"])
    for _ in range(REPEATS - 1):
        still_open = [k for k in each if LEVEL <= last[k][0] < MAX_OPEN_P]
        if not still_open:
            break
        table.add_repeat()
        for k in still_open:
            gain = table.gain(k)
            last[k] = REPEAT_CORRECTION * gain.p, gain.mean
    found["repeats"] = last
    return {
        test: np.array([np.sign(mean) * (p < LEVEL) for p, mean in values])
        for test, values in found.items()
    }


def main() -> None:
    """Print a table of how often a method is called better."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--truth", help="only what has this name")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("Per cent of tables on which the second / the first method is called better.\n")
    print("| truth | rows | method | test | " + " | ".join(m.__name__ for m in MEASURES) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(MEASURES))
    for truth in TRUTHS:
        if arguments.truth not in (None, truth.name):
            continue
        rng = np.random.default_rng(0)
        runs = [decide(rng, truth) for _ in range(arguments.repetitions)]
        for test in TESTS:
            calls = np.array([run[test] for run in runs])
            second, first = 100 * (calls > 0).mean(axis=0), 100 * (calls < 0).mean(axis=0)
            cells = " | ".join(f"{a:.1f} / {b:.1f}" for a, b in zip(second, first, strict=True))
            print(f"| {truth.name} | {truth.rows} | {truth.title} | {test} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
