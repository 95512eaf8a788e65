"""Boosting with margins against the libraries' own objectives.

python benchmarks/boosting.py [--libraries xgboost lightgbm catboost] [--rows 100000]

The data has 100,000 rows and 30 columns, with two classes and with ten; models have 100 rounds.
The two take turns for 15 seconds, and the fastest time of each counts. The goal is at most 1.15
times the time to fit and 1.05 times the time to predict probabilities.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from xgboost import XGBClassifier

from immax.boosting import IMMAXCatBoostClassifier, IMMAXLGBMClassifier, IMMAXXGBClassifier

SECONDS = 15.0
PAIRS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "xgboost": (XGBClassifier, IMMAXXGBClassifier, {"n_estimators": 100}),
    "lightgbm": (LGBMClassifier, IMMAXLGBMClassifier, {"n_estimators": 100, "verbose": -1}),
    "catboost": (
        CatBoostClassifier,
        IMMAXCatBoostClassifier,
        {
            "iterations": 100,
            "learning_rate": 0.1,
            "verbose": False,
            "allow_writing_files": False,
            "leaf_estimation_iterations": 1,
        },
    ),
}


def fastest(tasks: Sequence[Callable[[], object]]) -> list[float]:
    """Run the tasks in turn and return the fastest time of each in seconds."""
    times = np.full(len(tasks), np.inf)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for index, task in enumerate(tasks):
            start = time.perf_counter()
            task()
            times[index] = min(times[index], time.perf_counter() - start)
    return times.tolist()


def compare(library: str, rows: int, classes: int) -> None:
    """Print the times of a library's own classifier and of ours, and their ratios."""
    share = np.geomspace(1, 0.1, classes)
    X, y = make_classification(
        rows,
        30,
        n_informative=15,
        n_classes=classes,
        weights=list(share / share.sum()),
        random_state=0,
    )
    theirs, ours, params = PAIRS[library]
    models = [theirs(**params), ours(power=1 / 3, **params)]
    ours(power=1 / 3, **params).fit(
        X[:5000], y[:5000]
    )  # compile the kernels before the clock starts
    fits = fastest([lambda model=model: model.fit(X, y) for model in models])
    predictions = fastest([lambda model=model: model.predict_proba(X) for model in models])
    print(
        f"{library}, {len(y):,} x 30, {classes} classes: "
        f"fit {fits[1]:.2f} s against {fits[0]:.2f} s, ratio {fits[1] / fits[0]:.2f}; "
        f"predict_proba {predictions[1]:.3f} s against {predictions[0]:.3f} s, "
        f"ratio {predictions[1] / predictions[0]:.2f}",
        flush=True,
    )


def main() -> None:
    """Print one line for each library and number of classes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", nargs="+", choices=PAIRS, default=list(PAIRS))
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    for library in options.libraries:
        for classes in (2, 10):
            compare(library, options.rows, classes)


if __name__ == "__main__":
    main()
