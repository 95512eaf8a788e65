"""The margin search against GridSearchCV and LogisticRegressionCV, in one process each.

python benchmarks/search.py [--shapes two small ten sparse] [--margins 10] [--lams 8]

All search the same grid of powers and lams with five folds and the rule "score". GridSearchCV
cannot compute margins from the counts of each fold; it uses those of all samples. Values of lam are
those of version 0.1.0, from 1e-6 to 10 for margins that sum to one, in the present scale. The last
line of a block is the largest relative distance of a cell's objective from its minimum, over three
margins and all lams on all samples. Times are CPU times; set OMP_NUM_THREADS=1, so that threads of
BLAS that wait for each other are not counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from data import _binary, sparse_text
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.losses.immax_risks import immax_risk
from immax.margins import power_margins
from immax.search import PowerFamily
from immax.search.cells import LinearFits, linear_path
from immax.search.classifier import LABEL_TOL, LARGE
from immax.solvers import Problem, solve


def two() -> tuple[Any, np.ndarray]:
    """Return dense data, 20,000 x 50, two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    return X, _binary(X, rng, 3.0)


def small() -> tuple[Any, np.ndarray]:
    """Return dense data, 8,000 x 40, two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8_000, 40))
    return X, _binary(X, rng, 3.0)


def ten() -> tuple[Any, np.ndarray]:
    """Return dense data, 10,000 x 100, ten classes."""
    rng = np.random.default_rng(0)
    share = np.geomspace(1, 0.05, 10)
    y = rng.choice(10, 10_000, p=share / share.sum())
    return 0.3 * rng.standard_normal((10, 100))[y] + rng.standard_normal((10_000, 100)), y


SHAPES = {"two": two, "small": small, "ten": ten, "sparse": sparse_text}


def largest_excess(X: Any, y: np.ndarray, margins: list[np.ndarray], lams: np.ndarray) -> float:
    """Return the largest excess of a cell's objective, by the search's tolerance for labels."""
    weight = np.ones(len(y))
    searched = X.astype(np.float32) if X.size >= LARGE else X
    worst, fits = 0.0, LinearFits("logistic", tol=LABEL_TOL)
    for point in linear_path(searched, y, fits, weight, margins, None, lams):
        lam, rho = float(lams[point.lam_index]), margins[point.margin_index]
        problem = Problem(X, immax_risk("logistic", "auto", y, rho, weight / len(y)), lam)
        least = solve(problem, tol=1e-7, max_iter=10_000).objective
        worst = max(worst, problem.objective(point.theta.astype(float)) / least - 1)
    return worst


def compare(name: str, n_margins: int, n_lams: int) -> None:
    """Print the times of all searches and their choices."""
    X, y = SHAPES[name]()
    counts = np.bincount(y)
    lams = np.logspace(-6, 1, n_lams) / len(counts) ** 2  # the problems of version 0.1.0
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    start = time.process_time()
    mine = IMMAXClassifierCV(lams=lams, n_margins=n_margins, cv=folds, rule="score", one_se=False)
    mine.fit(X, y)
    ours = time.process_time() - start
    powers = PowerFamily().axes(counts, n_margins)[0]
    grid = {"margins": [power_margins(counts, t) for t in powers], "lam": lams}
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = GridSearchCV(IMMAXClassifier(), grid, cv=folds).fit(X, y)
        theirs = time.process_time() - start
        start = time.process_time()
        logistic = LogisticRegressionCV(
            Cs=1 / (2 * lams * len(y)),
            cv=folds,
            scoring="accuracy",
            l1_ratios=(0,),
            use_legacy_attributes=False,
        ).fit(X, y)
        plain = time.process_time() - start
    fits = n_margins * n_lams * 5
    excess = largest_excess(
        X, y, [power_margins(counts, powers[i]) for i in (0, len(powers) // 2, -1)], lams[::-1]
    )
    table = peer.cv_results_
    same = [
        np.allclose(rho, mine.best_margins_) and np.isclose(lam, mine.best_lam_)
        for rho, lam in zip(table["param_margins"], table["param_lam"], strict=True)
    ]
    score_of_ours = table["mean_test_score"][np.flatnonzero(same)[0]]
    print(
        f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {len(counts)} classes, {fits} fits\n"
        f"    IMMAXClassifierCV    {ours:7.1f} s   score {mine.best_score_:.5f}, power "
        f"{mine.best_parameters_[0]:.2f}, lam {mine.best_lam_:g}\n"
        f"    GridSearchCV         {theirs:7.1f} s   score {peer.best_score_:.5f}, margins "
        f"{np.round(peer.best_params_['margins'][:3], 3)}, lam {peer.best_params_['lam']:g}; "
        f"our choice {score_of_ours:.5f}\n"
        f"    times faster: {theirs / ours:.1f}\n"
        f"    LogisticRegressionCV {plain:7.1f} s   {1e3 * plain / (n_lams * 5):.1f} ms per fit "
        f"against {1e3 * ours / fits:.1f} ms; score {np.max(logistic.scores_.mean(axis=0)):.5f}\n"
        f"    largest excess of an objective: {excess:.1e}",
        flush=True,
    )


def main() -> None:
    """Print one block for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--margins", type=int, default=10)
    parser.add_argument("--lams", type=int, default=8)
    options = parser.parse_args()
    for name in options.shapes:
        compare(name, options.margins, options.lams)


if __name__ == "__main__":
    main()
