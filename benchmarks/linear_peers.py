"""Solvers of other libraries that minimise the objective of ``benchmarks/linear.py``.

Those of scikit-learn are always there. glum, snapml and scikit-learn-intelex take part where they
are installed (``pip install glum snapml scikit-learn-intelex``); others are named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

Peer = tuple[str, list[float], Callable[[float], Any]]
OPTIONAL = {"glum": "glum", "snapml": "snapml", "sklearnex": "scikit-learn-intelex"}
MOST_GLUM_FEATURES = 10_000  # its square matrices of all features have 0.8 GB then
BIAS_FEATURE = 10.0
THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
TOLERANCES = [10 ** (-k / 2) for k in range(4, 17)]


def missing_peers() -> list[str]:
    """Return the names of the optional peers that are not installed."""
    return [name for module, name in OPTIONAL.items() if find_spec(module) is None]


class Glum:
    """glum's binomial regression by iteratively reweighted least squares."""

    def __init__(self, C: float, tol: float) -> None:
        self.C, self.tol = C, tol

    def fit(self, X: Any, y: np.ndarray) -> Self:
        from glum import GeneralizedLinearRegressor

        model = GeneralizedLinearRegressor(
            family="binomial",
            alpha=1 / (self.C * len(y)),
            l1_ratio=0,
            solver="irls-ls",
            gradient_tol=self.tol,
            max_iter=1000,
        ).fit(X, y)
        self.coef_, self.intercept_ = model.coef_[None, :], np.array([model.intercept_])
        return self


class SnapML:
    """Snap ML's logistic regression, whose bias is a feature that is hardly penalised.

    With a feature of 100 it does not converge. Its ``intercept_`` is the feature's coefficient.
    """

    def __init__(self, C: float, tol: float) -> None:
        self.C, self.tol = C, tol

    def fit(self, X: Any, y: np.ndarray) -> Self:
        from snapml import LogisticRegression as SnapLogisticRegression

        model = SnapLogisticRegression(
            regularizer=1 / self.C,
            tol=self.tol,
            max_iter=10_000,
            fit_intercept=True,
            intercept_scaling=BIAS_FEATURE,
            n_jobs=THREADS,
        ).fit(X, y)
        self.coef_ = np.atleast_2d(np.asarray(model.coef_, dtype=float))
        self.intercept_ = BIAS_FEATURE * np.atleast_1d(np.asarray(model.intercept_, dtype=float))
        return self


def peers(loss: str, X: Any, y: np.ndarray, C: float) -> Iterator[Peer]:
    """Yield the name of each peer, its settings, and a function from a setting to an estimator."""
    if loss == "logistic":
        yield from _logistic_peers(X, y, C)
        return
    options: dict[str, Any] = {"C": C, "fit_intercept": False, "random_state": 0}
    if y.max() == 1:
        # Its tolerance says little about the objective, so it is run with more and more epochs.
        options |= {"loss": "hinge", "tol": 1e-9}
        epochs = [10 ** (k / 2) for k in range(2, 13)]
        yield "LinearSVC", epochs, lambda m: LinearSVC(max_iter=int(m), **options)
    else:
        # This solver ignores max_iter.
        options |= {"multi_class": "crammer_singer"}
        tolerances = [10.0**-k for k in range(1, 10)]
        yield "LinearSVC", tolerances, lambda tol: LinearSVC(tol=tol, **options)


def _logistic_peers(X: Any, y: np.ndarray, C: float) -> Iterator[Peer]:
    binary, dense = y.max() == 1, isinstance(X, np.ndarray)
    names = ["lbfgs", "newton-cg"]
    names += ["newton-cholesky"] if dense else []
    names += ["liblinear"] if binary else []
    for name in names:
        options: dict[str, Any] = {"C": C, "solver": name, "max_iter": 10_000}
        if name == "liblinear":
            options["intercept_scaling"] = 100.0  # so that its bias is hardly penalised
        yield name, TOLERANCES, lambda tol, o=options: LogisticRegression(tol=tol, **o)
    if find_spec("sklearnex") is not None and dense:
        from daal4py import daalinit
        from sklearnex.linear_model import LogisticRegression as IntelRegression

        daalinit(THREADS)  # its threads are not those of OpenMP
        options = {"C": C, "solver": "lbfgs", "max_iter": 10_000}
        yield "sklearnex lbfgs", TOLERANCES, lambda tol, o=options: IntelRegression(tol=tol, **o)
        if binary:
            options = options | {"solver": "newton-cg"}
            yield (
                "sklearnex newton",
                TOLERANCES,
                lambda tol, o=options: IntelRegression(tol=tol, **o),
            )
    if find_spec("glum") is not None and binary and X.shape[1] <= MOST_GLUM_FEATURES:
        yield "glum", TOLERANCES, lambda tol: Glum(C, tol)
    if find_spec("snapml") is not None and binary:
        yield "snapml", TOLERANCES, lambda tol: SnapML(C, tol)
