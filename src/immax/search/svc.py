"""The kernel machine with margins and C found by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from immax.arrays import Array
from immax.kernels.gram import KERNELS
from immax.kernels.machine import MachineOptions
from immax.kernels.machines import solve_machines, votes
from immax.kernels.parameters import check_parameters, resolve_gamma
from immax.kernels.samples import Data, Points, build_samples
from immax.kernels.svc import IMMAXSVC
from immax.search.base import MarginSearch, grid_of
from immax.search.cells import Cells, Judge, Results
from immax.search.families import MarginFamily
from immax.search.folds import Fold
from immax.search.scoring import Scorer
from immax.validation import Sample

__all__ = ["IMMAXSVCCV"]

CS = np.logspace(-2, 3, 6)


@dataclass(frozen=True)
class MachineCells:
    """Kernel machines; all of them look at the same kernel values."""

    data: Data
    judge: Judge
    multiclass: str
    options: MachineOptions

    def run(
        self, fold: Fold, family: MarginFamily, points: Sequence[Array], prices: Array
    ) -> Results:
        """Fit to the training part and score on the test part."""
        train, (test,) = fold
        present = self.judge.present(train)
        train = train[present[train] > 0]
        y, weights, part = self.judge.y[train], present[train], self.data.subset(train)
        counts = self.judge.counts(present)
        held_out = self.judge.part(test)
        found = Results.empty(len(points), len(prices), 1)
        everything = [np.arange(held_out.y.size)]
        for i, point in enumerate(points):
            rho = family.margins(point, counts)
            for j, C in enumerate(prices):
                start = time.perf_counter()
                machines = solve_machines(part, y, C * weights, rho, self.multiclass, self.options)
                fitted = time.perf_counter()
                coefficients = np.concatenate([machine.coefficients for machine in machines])
                biases = np.concatenate([machine.biases for machine in machines])
                scores = self.data.scores(test, train, coefficients) + biases
                if rho.size > 2 and self.multiclass == "ovo":
                    scores = votes(scores, rho.size)
                found.scores[i, j], _ = held_out.judge(scores, rho, everything)
                found.fit_times[i, j] = fitted - start
                found.score_times[i, j] = time.perf_counter() - fitted
        return found


class IMMAXSVCCV(MarginSearch):
    """IMMAXSVC with margins and C found by cross-validation.

    As IMMAXClassifierCV, for kernel machines. The kernel matrix is computed once for all cells and
    folds if it fits ``cache_size``; gamma="scale" is that of all samples.

    Parameters
    ----------
    kernel, gamma, degree, coef0, multiclass, cache_size, tol
        As in IMMAXSVC.
    Cs : array-like, optional
        Values of C; by default six from 0.01 to 1,000.
    family, n_margins, cv, scoring, one_se, budget, n_jobs, random_state, refit, verbose
        As in IMMAXClassifierCV.

    Attributes
    ----------
    best_C_ : float
    best_margins_, best_parameters_, best_score_, best_index_, cv_results_, n_splits_
        As in IMMAXClassifierCV.
    best_estimator_ : IMMAXSVC
        Fitted to all samples.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, margins_
        Its attributes, as are ``objective_``, ``gap_`` and ``n_iter_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IMMAXSVCCV(Cs=[0.1, 1.0]).fit(X[:110], y[:110])
    >>> bool(model.best_score_ > 0.9)
    True
    """

    _price = "C"
    _copied = (
        "support_",
        "support_vectors_",
        "n_support_",
        "dual_coef_",
        "intercept_",
        "margins_",
        "objective_",
        "gap_",
        "n_iter_",
    )

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        *,
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        Cs: ArrayLike | None = None,
        family: str | MarginFamily = "auto",
        n_margins: int = 10,
        multiclass: str = "max",
        cv: Any = 5,
        scoring: Any = "accuracy",
        one_se: bool = True,
        budget: int = 2000,
        cache_size: float = 1000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
        refit: bool = True,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.Cs = Cs
        self.family = family
        self.n_margins = n_margins
        self.multiclass = multiclass
        self.cv = cv
        self.scoring = scoring
        self.one_se = one_se
        self.budget = budget
        self.cache_size = cache_size
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.refit = refit
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _plain(self, **chosen: Any) -> IMMAXSVC:
        return IMMAXSVC(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            multiclass=self.multiclass,
            cache_size=self.cache_size,
            tol=self.tol,
            **chosen,
        )

    def _options(self) -> MachineOptions:
        return MachineOptions(self.tol, cache_size=self.cache_size)

    def _check_parameters(self) -> None:
        check_parameters(self.kernel, self.gamma, self.multiclass, self._options())
        if isinstance(self.cv, str):
            raise ValueError(
                f"cv={self.cv!r}: the hinge has kinks, where no Newton step leads from one machine "
                "to another; take a number of folds"
            )

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        sparse_ok = False if self.kernel == "precomputed" else "csr"
        return validate_data(self, X, y, accept_sparse=sparse_ok, dtype=np.float64, order="C")

    def _prices(self) -> Array:
        return grid_of("Cs", self.Cs, CS)

    def _strength(self, prices: Array) -> Array:
        return np.asarray(1 / prices)

    def _scorer(self) -> Scorer:
        return Scorer(self.scoring, "hinge")

    def _rules(self, scorer: Scorer) -> list[str]:  # noqa: ARG002
        return ["score"]

    def _cells(
        self,
        X: Any,
        sample: Sample,
        weight: Array | None,
        scorer: Scorer,
        rules: list[str],
    ) -> Cells:
        gamma = resolve_gamma(self.gamma, X, sample.weight) if self.kernel in KERNELS else 1.0
        everything = np.ones(X.shape[0])  # samples without weight are in test parts
        data, _ = build_samples(
            X, self.kernel, everything, gamma=gamma, degree=self.degree, coef0=self.coef0
        )
        if isinstance(data, Points) and 8 * X.shape[0] ** 2 <= self.cache_size * 2**20:
            data = data.matrix()
        judge = Judge(X, sample.labels, weight, sample.classes, "hinge", rules, scorer)
        return MachineCells(data, judge, self.multiclass, self._options())

    def _machine(self) -> IMMAXSVC:
        return self._plain(C=self.best_C_, margins=self.best_margins_)
