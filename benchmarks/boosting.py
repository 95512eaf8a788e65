"""Boosting with margins beside the libraries' own objectives.

python benchmarks/boosting.py [--libraries xgboost lightgbm catboost] [--rows 100000]

100,000 x 30, two classes and ten, 100 rounds, both in turn for 15 seconds, the fastest of each; the
goal is at most 1.15 times the time to train and 1.05 times the time to predict probabilities.
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


def fastest(works: Sequence[Callable[[], Any]]) -> list[float]:
    """The best time of each, taken in turn."""
    times = np.full(len(works), np.inf)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            times[place] = min(times[place], time.perf_counter() - start)
    return times.tolist()


def compare(library: str, rows: int, classes: int) -> None:
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
    ours(power=1 / 3, **params).fit(X[:5000], y[:5000])  # compiles what is compiled
    fits = fastest([lambda model=model: model.fit(X, y) for model in models])
    guesses = fastest([lambda model=model: model.predict_proba(X) for model in models])
    print(
        f"{library}, {len(y):,} x 30, {classes} classes: "
        f"fit {fits[1]:.2f} s beside {fits[0]:.2f} s, ratio {fits[1] / fits[0]:.2f}; "
        f"predict_proba {guesses[1]:.3f} s beside {guesses[0]:.3f} s, "
        f"ratio {guesses[1] / guesses[0]:.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", nargs="+", choices=PAIRS, default=list(PAIRS))
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    for library in options.libraries:
        for classes in (2, 10):
            compare(library, options.rows, classes)


if __name__ == "__main__":
    main()
