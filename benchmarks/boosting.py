"""Boosting with margins against the libraries' own objectives.

python benchmarks/boosting.py [--libraries xgboost lightgbm catboost] [--rows 100000]
                              [--rounds 100] [--classes 2 10] [--seconds 15] [--cpu-time]

The data has 100,000 rows and 30 columns, with two classes and with ten; models have 100 rounds.
The two take turns for 15 seconds, and the fastest time of each counts. The goal is at most 1.15
times the time to fit and 1.05 times the time to predict probabilities. With ``--cpu-time`` models
have one thread, and the CPU time of the process counts, which other work on the machine disturbs
less.
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

PAIRS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "xgboost": (XGBClassifier, IMMAXXGBClassifier, {}),
    "lightgbm": (LGBMClassifier, IMMAXLGBMClassifier, {"verbose": -1}),
    "catboost": (
        CatBoostClassifier,
        IMMAXCatBoostClassifier,
        {
            "learning_rate": 0.1,
            "verbose": False,
            "allow_writing_files": False,
            "leaf_estimation_iterations": 1,
        },
    ),
}


def fastest(
    tasks: Sequence[Callable[[], object]], clock: Callable[[], float], seconds: float
) -> list[float]:
    """Run the tasks in turn and return the fastest time of each in seconds."""
    times = np.full(len(tasks), np.inf)
    end = clock() + seconds
    while clock() < end:
        for index, task in enumerate(tasks):
            start = clock()
            task()
            times[index] = min(times[index], clock() - start)
    return times.tolist()


def compare(library: str, classes: int, options: argparse.Namespace) -> None:
    """Print the times of a library's own classifier and of ours, and their ratios."""
    share = np.geomspace(1, 0.1, classes)
    X, y = make_classification(
        options.rows,
        30,
        n_informative=15,
        n_classes=classes,
        weights=list(share / share.sum()),
        random_state=0,
    )
    theirs, ours, params = PAIRS[library]
    params = params | {"iterations" if library == "catboost" else "n_estimators": options.rounds}
    if options.cpu_time:
        params["thread_count" if library == "catboost" else "n_jobs"] = 1
    clock = time.process_time if options.cpu_time else time.perf_counter
    models = [theirs(**params), ours(power=1 / 3, **params)]
    ours(power=1 / 3, **params).fit(
        X[:5000], y[:5000]
    )  # compile the kernels before the clock starts
    fit_tasks = [lambda model=model: model.fit(X, y) for model in models]
    proba_tasks = [lambda model=model: model.predict_proba(X) for model in models]
    fits = fastest(fit_tasks, clock, options.seconds)
    predictions = fastest(proba_tasks, clock, options.seconds)
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
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--cpu-time", action="store_true")
    options = parser.parse_args()
    for library in options.libraries:
        for classes in options.classes:
            compare(library, classes, options)


if __name__ == "__main__":
    main()
