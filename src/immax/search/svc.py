"""The kernel machine with margins and C found by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from joblib import Memory
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from immax.arrays import Array, Features
from immax.class_weights import weighted_shares
from immax.decisions import Aim
from immax.kernels.gram import KERNELS
from immax.kernels.machine import Machine, MachineOptions
from immax.kernels.machines import solve_machines, votes
from immax.kernels.parameters import check_parameters, resolve_gamma
from immax.kernels.samples import Data, Points, build_samples, kernel_norms
from immax.kernels.svc import IMMAXSVC
from immax.search.base import EVIDENCE, MarginSearch
from immax.search.cells import Cells, CellWatch, ignore_cell
from immax.search.criteria import Purpose, SearchGoal
from immax.search.folds import CrossValidation, Fold, RandomState
from immax.search.held_out import HeldOutCells, PointTerms
from immax.search.margin_family import MarginFamily, family_weights
from immax.search.penalty_grids import penalty_grid
from immax.search.samples import SearchSamples
from immax.validation import canonical_rows

__all__ = ["IMMAXSVCCV"]

CS = np.logspace(-2, 3, 6)
FOLD_TOL = 10.0  # in units of tol, of the joint machines of folds: their scores hardly change


@dataclass(frozen=True)
class MachineCells:
    """Kernel machines that share the kernel values."""

    data: Data
    samples: SearchSamples
    multiclass: str
    options: MachineOptions

    def run(
        self,
        fold: Fold,
        family: MarginFamily,
        points: Sequence[Array],
        penalties: Array,
        watch: CellWatch = ignore_cell,
    ) -> HeldOutCells:
        """Fit to the training part of the fold and score its test part.

        Parameters
        ----------
        fold : Fold
            Training samples, and one set of test samples.
        family : MarginFamily
            Gives the margins for the class counts of the training part.
        points : sequence of ndarray
            Parameters of the family.
        penalties : ndarray
            Values of C.
        watch : callable, default=ignore_cell
            Is told of every cell: all values of C of the first margins, then those of the next.

        Returns
        -------
        HeldOutCells
            Of one test.
        """
        train, (test,) = fold
        weight = self.samples.training_weight(train)
        train = train[weight[train] > 0]
        y, own, part = self.samples.y[train], weight[train], self.data.subset(train)
        counts = self.samples.class_counts(weight)
        options, shape = self.options, (len(points), len(penalties))
        if counts.size > 2 and self.multiclass == "max":
            options = replace(options, tol=FOLD_TOL * options.tol)
        values = np.empty((*shape, len(test), 1 if counts.size == 2 else counts.size))
        times = np.zeros((*shape, 1))
        terms = []
        for i, point in enumerate(points):
            rho, classes = family.margins(point, counts), family_weights(family, point, counts)
            limits = weighted_shares(own, y, classes)
            terms.append(PointTerms(rho[None], classes[None]))
            machines: list[Machine] = []
            for j, C in enumerate(penalties):
                begin = time.perf_counter()
                with watch(i, j):
                    start = _scaled(machines, C / penalties[max(j - 1, 0)])
                    machines = solve_machines(
                        part, y, C * limits, rho, self.multiclass, options, start
                    )
                    values[i, j] = self._scores(machines, test, train, rho.size)
                times[i, j] = time.perf_counter() - begin
        index = np.zeros(len(test), dtype=np.intp)
        return HeldOutCells(values, terms, test, index, [np.arange(len(test))], times)

    def _scores(self, machines: list[Machine], test: Array, train: Array, n_classes: int) -> Array:
        """Return the scores of test samples by machines of the training samples."""
        coefficients = np.concatenate([machine.coefficients for machine in machines])
        biases = np.concatenate([machine.biases for machine in machines])
        scores = self.data.scores(test, train, coefficients) + biases
        ovo = n_classes > 2 and self.multiclass == "ovo"
        return votes(scores, n_classes) if ovo else np.asarray(scores)


def _scaled(machines: list[Machine], factor: float) -> list[Machine]:
    """Return the warm start for limits that are so many times as large."""
    return [replace(machine, coefficients=factor * machine.coefficients) for machine in machines]


class IMMAXSVCCV(MarginSearch):
    """IMMAXSVC with margins and C found by cross-validation.

    Every combination of margins and C is fitted to the training part of each fold and scored on
    its test part. The kernel matrix is computed once for all cells and folds if it fits
    ``cache_size``; gamma="scale" is that of all samples.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in IMMAXSVC.
    gamma : {"scale", "auto"} or float, default="scale"
        As in IMMAXSVC.
    degree : float, default=3
        The degree of the polynomial kernel.
    coef0 : float, default=0.0
        The constant of the polynomial and sigmoid kernels.
    Cs : array-like of shape (n_Cs,), default=None
        Values of C. None is six values from 0.01 to 1,000.
    family : {"auto", "power", "box", "shared_tail", "free"} or MarginFamily, default="auto"
        The margins to search among, as in IMMAXClassifierCV.
    n_margins : int, default=10
        Values of each of the family's parameters.
    multiclass : {"max", "ovo"}, default="max"
        As in IMMAXSVC.
    cv : int, splitter or iterable of (train, test), default=5
        As in IMMAXClassifierCV, but without "loo".
    scoring : str, callable, list, dict or None, default="accuracy"
        As in IMMAXClassifierCV. Probabilities are calibrated on held-out scores.
    one_se : bool or "auto", default="auto"
        As in IMMAXClassifierCV.
    budget : int, default=2000
        Upper bound on the number of fits to folds, as in IMMAXClassifierCV.
    cache_size : float, default=1000
        Megabytes for kernel values.
    tol : float, default=1e-3
        As in IMMAXSVC. The gaps of machines of three classes or more that are fitted to folds may
        be ten times as large.
    n_jobs : int, default=None
        The number of folds that joblib runs in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds. None is a fixed seed.
    refit : bool or str, default=True
        As in IMMAXClassifierCV.
    verbose : int, default=0
        Above zero, a line is printed when the fits of a fold are done.
    aim, costs, pos_label, evidence
        As in IMMAXClassifierCV. ``predict_proba`` exists if there is an aim, or a scorer other
        than the accuracy.
    use_radii : bool, default=False
        Search around the theory's margins for the radii of the classes,
        ``rho_k ∝ n_k^(1/3) r_k^(2/3)``: every family takes ``n_k r_k^2`` for the class counts. The
        radii are the largest norms in the kernel's space of all samples of a class.
    memory : str or object with the interface of joblib.Memory, optional
        As in IMMAXClassifierCV.

    Attributes
    ----------
    best_C_ : float
        The chosen C.
    best_margins_ : ndarray of shape (n_classes,)
        The chosen margins, for the class counts of all samples.
    best_parameters_ : ndarray
        The chosen parameters of the family.
    theory_parameters_ : ndarray
        The parameters of the theory's margins, or the nearest to them.
    best_weights_ : ndarray of shape (n_classes,)
        The chosen class weights.
    best_rule_ : Rule or "score"
        The rule of the aim, or the highest score.
    best_calibration_, probability_calibration_ : ScoreCalibration
        Maps from scores to probabilities.
    best_score_ : float
        The mean score of the choice over the folds; for an aim with a constraint, such as a
        recall at a precision, its value for the held-out samples of all folds together.
    best_index_ : int
        The row of the choice in ``cv_results_``.
    cv_results_ : dict of arrays
        As in GridSearchCV.
    n_splits_ : int
        The number of folds.
    best_estimator_ : IMMAXSVC
        The choice, fitted to all samples.
    probability_estimator_ : IMMAXSVC
        The machine of ``predict_proba``, the same or one of a lower log-loss.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, margins_
        Attributes of ``best_estimator_``, as are ``objective_``, ``gap_`` and ``n_iter_``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X had them.

    See Also
    --------
    IMMAXSVC : The same model with given margins and C.
    IMMAXClassifierCV : The search for linear classifiers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IMMAXSVCCV(Cs=[0.1, 1.0]).fit(X[:110], y[:110])
    >>> bool(model.best_score_ > 0.9)
    True
    """

    _penalty_name = "C"
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
    best_estimator_: IMMAXSVC

    _foreign = MappingProxyType(
        {
            **MarginSearch._foreign,
            "C": "Cs= are the values of C to try; IMMAXSVC takes one",
            "lams": "Cs= are the values of C to try",
            "probability": "with an aim, such as aim='accuracy', scores are calibrated",
        }
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
        cv: CrossValidation = 5,
        scoring: Any = "accuracy",
        one_se: bool | str = "auto",
        budget: int = 2000,
        cache_size: float = 1000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        refit: bool | str = True,
        verbose: int = 0,
        aim: str | Aim | Callable[..., float] | None = None,
        costs: ArrayLike | None = None,
        pos_label: object = None,
        evidence: float = EVIDENCE,
        use_radii: bool = False,
        memory: str | Memory | None = None,
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
        self.aim = aim
        self.costs = costs
        self.pos_label = pos_label
        self.evidence = evidence
        self.use_radii = use_radii
        self.memory = memory

    def __sklearn_tags__(self) -> Tags:
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
        check_parameters(
            self.kernel,
            self.gamma,
            self.multiclass,
            self._options(),
            degree=self.degree,
            coef0=self.coef0,
        )
        if isinstance(self.cv, str):
            raise ValueError(
                f"cv={self.cv!r}: the hinge has kinks, where a Newton step does not lead from one "
                "machine to another; use a number of folds"
            )

    def _validate(self, X: Features, y: ArrayLike) -> tuple[Features, Array]:
        sparse_ok = False if self.kernel == "precomputed" else "csr"
        X, labels = validate_data(self, X, y, accept_sparse=sparse_ok, dtype=np.float64, order="C")
        return canonical_rows(X), labels

    def _norms(self, X: Features, weight: Array) -> Array:
        data, _ = build_samples(
            X, self.kernel, weight, gamma=self.gamma, degree=self.degree, coef0=self.coef0
        )
        return kernel_norms(data)

    def _penalties(self) -> Array:
        return penalty_grid("Cs", self.Cs, CS)

    def _penalty_strengths(self, penalties: Array) -> Array:
        return np.asarray(1 / penalties)

    @property
    def _loss(self) -> str:
        return "hinge"

    def _has_link(self, n_classes: int) -> bool:  # noqa: ARG002
        return False

    def _goal(self) -> SearchGoal:
        return SearchGoal(
            self.aim, self.costs, self.scoring, self.refit, "auto", self.pos_label, self.evidence
        )

    def _cells(self, samples: SearchSamples, purpose: Purpose) -> Cells:  # noqa: ARG002
        X = samples.X
        weight = np.ones(X.shape[0]) if samples.weight is None else samples.weight
        gamma = resolve_gamma(self.gamma, X, weight) if self.kernel in KERNELS else 1.0
        everything = np.ones(X.shape[0])  # samples without weight are in test parts
        data, _ = build_samples(
            X, self.kernel, everything, gamma=gamma, degree=self.degree, coef0=self.coef0
        )
        if isinstance(data, Points) and 8 * X.shape[0] ** 2 <= self.cache_size * 2**20:
            data = data.matrix()
        return MachineCells(data, samples, self.multiclass, self._options())

    def _final_classifier(
        self,
        penalty: float,
        margins: Array,
        weights: Array,
        rule: str,  # noqa: ARG002
    ) -> IMMAXSVC:
        return self._plain(C=penalty, margins=margins, weights=weights)
