"""Linear classifiers: IMMAX, and the same machine with any method of the catalogue."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array
from immax.links import by_score, check_costs, decide, immax_proba, spec_proba
from immax.losses.catalog import make_spec
from immax.losses.risks import ExponentialRisk, MarginRisk, MaxRisk, SoftmaxRisk, binary_risk
from immax.losses.spec import LossSpec
from immax.losses.surrogates import SURROGATES
from immax.margins import class_radii, resolve_margins
from immax.solvers import SOLVER_NAMES, Problem, solve
from immax.validation import check_choice, check_positive, training_sample

__all__ = ["BaselineClassifier", "IMMAXClassifier", "immax_risk"]


def _has_proba(estimator: _LinearClassifier) -> bool:
    reason = estimator._why_no_proba()
    if reason:
        raise AttributeError(
            f"{reason} does not determine probabilities, so predict_proba does not exist; wrap "
            "the estimator in sklearn.calibration.CalibratedClassifierCV to get them"
        )
    return True


class _LinearClassifier(ClassifierMixin, BaseEstimator):
    """Fits ``min over W, b of lam ||W||^2 + mean loss``; subclasses give the loss."""

    lam: float
    rule: str
    costs: ArrayLike | None
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int
    random_state: Any

    @abstractmethod
    def _risk(
        self, X: Any, y: Array, weight: Array, classes: Array, counts: Array
    ) -> tuple[Any, dict[str, Any]]:
        """The risk of the training sample, and the attributes that go with it."""

    @abstractmethod
    def _proba(self, scores: Array) -> Array:
        """Probabilities of shape (n, c) from decision_function's scores."""

    def _why_no_proba(self) -> str | None:
        """What stands in the way of probabilities, if anything."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_positive("lam", self.lam)
        check_positive("tol", self.tol)
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a positive whole number; got {self.max_iter!r}")
        check_choice("rule", self.rule, ("score", "bayes"))
        check_choice("solver", self.solver, ("auto", *SOLVER_NAMES))
        if self.costs is not None and self.rule != "bayes":
            raise ValueError("costs are taken into account by rule='bayes' only; got rule='score'")

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            float32 is worked on in float32.
        y : array-like of shape (n,)
            Labels of any kind, two classes or more.
        sample_weight : array-like of shape (n,), optional
            Not negative. A weight of two counts as two samples, in the class counts too.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        classes, labels, weight, counts = training_sample(X, y, sample_weight)
        n_classes, d = len(classes), X.shape[1]
        if self.costs is not None:
            check_costs(self.costs, n_classes)
        if not weight.all():
            kept = np.flatnonzero(weight)
            X, labels, weight = X[kept], labels[kept], weight[kept]
        if not sparse.issparse(X) and not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        share = (weight / weight.sum()).astype(X.dtype)
        risk, learnt = self._risk(X, labels, share, classes, counts)
        seed = 0 if self.random_state is None else self.random_state
        solution = solve(
            Problem(X, risk, float(self.lam), bool(self.fit_intercept)),
            self.solver,
            tol=self.tol,
            max_iter=int(self.max_iter),
            random_state=int(check_random_state(seed).randint(2**31 - 1)),
        )
        # All at the end, so that a fit that fails leaves an earlier one as it was.
        self.classes_ = classes
        for name, value in learnt.items():
            setattr(self, name, value)
        self.coef_ = solution.theta[:, :d].copy()
        self.intercept_ = (
            solution.theta[:, d].copy()
            if self.fit_intercept
            else np.zeros(len(solution.theta), dtype=X.dtype)
        )
        self.objective_ = solution.objective
        self.gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            reached = "" if solution.gap is None else f" within {solution.gap:.3g} of the optimum"
            warnings.warn(
                f"the fit stopped after {solution.n_iter} iterations at the objective "
                f"{solution.objective:.6g}{reached}; raise max_iter or tol, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Labels by ``rule``; the highest class on a tie."""
        check_is_fitted(self)
        if self.rule == "bayes":
            return np.asarray(self.classes_[decide(self.predict_proba(X), self.costs)])
        scores = self.decision_function(X)
        return np.asarray(self.classes_[by_score(scores)])

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, shape (n, c), exact for the loss at its optimum."""
        return self._proba(self.decision_function(X))

    @available_if(_has_proba)
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities, shape (n, c)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class IMMAXClassifier(_LinearClassifier):
    """Linear classifier with a confidence margin of its own for each class.

    Two classes, one weight vector, ``alpha = rho_1 / (rho_0 + rho_1)``::

        min over w, b of  lam ||w||^2 + mean of Psi(h / alpha) over class 1
                                      and Psi(-h / (1 - alpha)) over class 0,   h = w x + b

    More classes, a weight vector each::

        min over W, b of  lam ||W||^2 + mean of loss(h, y)
        sum form:  log sum_j exp((h_j - h_y) / rho_y),  or  sum_{j != y} exp((h_j - h_y) / rho_y)
        max form:  max_{j != y} Psi((h_y - h_j) / rho_y)

    The biases are not penalised. Means are weighted by ``sample_weight``, logarithms are
    natural.

    Parameters
    ----------
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
        The surrogate Psi.
    form : {"auto", "sum", "max"}, default="auto"
        With three classes or more: "auto" takes the sum over the other classes for logistic
        and exponential, and the maximum for the hinge.
    lam : float, default=1e-3
        The paper's lambda. With equal margins rho, scikit-learn's C is
        ``1 / (2 lam n rho^2)``: ``2 / (lam n)`` for two classes.
    margins : "theory", "equal", array-like of shape (n_classes,) or dict, default="theory"
        Margins in the order of ``classes_``, or by label. "theory" is
        ``rho_k ∝ n_k^(1/3)`` and "equal" is one margin for all; both sum to one. With two
        classes only their ratio matters.
    rule : {"score", "bayes"}, default="score"
        How ``predict`` decides: by the highest score, as in the paper, or by the highest
        probability. With unequal margins these differ: for two classes the score is positive
        where the probability exceeds alpha.
    costs : array-like of shape (n_classes,) or (n_classes, n_classes), optional
        For rule="bayes": what an error on each class costs, or what saying j costs when k is
        true, at (k, j). Decides for the least expected cost.
    use_radii : bool, default=False
        Let margins="theory" take each class's largest feature norm into account,
        ``rho_k ∝ n_k^(1/3) r_k^(2/3)``.
    fit_intercept : bool, default=True
    solver : {"auto", "newton", "lbfgs", "dual"}, default="auto"
        "auto" picks by the shape of the data. Losses with kinks are solved exactly by "newton"
        and "lbfgs", inside a method of multipliers. "dual" is for the hinge of two classes on
        dense features, and needs Numba.
    tol : float, default=1e-6
        The fit stops when ``gap_`` is at most ``tol * objective_``, and warns if it has to stop
        before. In float32 no more than 1e-3 is asked.
    max_iter : int, default=1000
    random_state : int, RandomState instance or None, default=None
        Seeds the rows that the solver samples for its preconditioner. None is a fixed seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, d) or (n_classes, d)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    margins_ : ndarray of shape (n_classes,)
        The margins that were used; for two classes, (1 - alpha, alpha).
    objective_ : float
        The objective that was reached.
    gap_ : float
        An upper bound on how far ``objective_`` lies above the optimum: a duality gap.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X had them

    References
    ----------
    Cortes, Mao, Mohri and Zhong, *Balancing the Scales: A Theoretical and Algorithmic
    Framework for Learning from Imbalanced Data*, ICML 2025: eqs. (binary) and (alg-gen).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXClassifier().fit(scale(X), y)
    >>> model.margins_.round(3)
    array([0.457, 0.543])
    >>> bool(model.gap_ <= 1e-6 * model.objective_)
    True
    """

    def __init__(
        self,
        loss: str = "logistic",
        *,
        form: str = "auto",
        lam: float = 1e-3,
        margins: str | ArrayLike | Mapping[Any, float] = "theory",
        rule: str = "score",
        costs: ArrayLike | None = None,
        use_radii: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.form = form
        self.lam = lam
        self.margins = margins
        self.rule = rule
        self.costs = costs
        self.use_radii = use_radii
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, tuple(SURROGATES))
        check_choice("form", self.form, ("auto", "sum", "max"))
        if self.loss == "hinge" and self.form == "sum":
            raise ValueError("form='sum' exists for the logistic and exponential losses only")
        if self.rule == "bayes" and self.loss == "hinge":
            raise ValueError(
                "rule='bayes' needs probabilities, which the hinge loss does not determine; use "
                "rule='score', or loss='logistic'"
            )

    def _why_no_proba(self) -> str | None:
        if self.loss == "hinge":
            return "the hinge loss"
        if self.form == "max" and len(getattr(self, "classes_", ())) != 2:
            return "the max form"
        return None

    def _risk(
        self, X: Any, y: Array, weight: Array, classes: Array, counts: Array
    ) -> tuple[Any, dict[str, Any]]:
        radii = class_radii(_norms(X), y, len(counts)) if self.use_radii else None
        rho = resolve_margins(self.margins, classes, counts, radii)
        binary = len(rho) == 2
        if binary:
            rho = rho / rho.sum()
        if self.rule == "bayes" and self.form == "max" and not binary:
            raise ValueError(
                "rule='bayes' needs probabilities, which the max form does not determine for "
                "three classes or more; use rule='score', or form='sum'"
            )
        return immax_risk(self.loss, self.form, y, rho, weight), {"margins_": rho}

    def _proba(self, scores: Array) -> Array:
        return immax_proba(scores, self.margins_, self.loss)


def immax_risk(loss: str, form: str, y: Array, rho: Array, weight: Array) -> Any:
    """What IMMAX minimises beside the penalty; margins of two classes sum to one."""
    surrogate = SURROGATES[loss]
    if rho.size == 2:
        slope = (np.where(y == 1, 1.0, -1.0) / rho[y]).astype(weight.dtype)
        return MarginRisk(surrogate, slope, np.zeros_like(weight), weight)
    if form == "max" or loss == "hinge":
        return MaxRisk(surrogate, y, rho, weight)
    if loss == "logistic":
        return SoftmaxRisk(LossSpec(rho, name="immax"), y, weight, None)
    return ExponentialRisk(y, rho, weight)


class BaselineClassifier(_LinearClassifier):
    """The linear machine with any method of ``immax.losses.catalog``.

    ``min over W, b of lam ||W||^2 + weighted mean of the method's loss``; two classes share
    one weight vector, with scores (-h/2, h/2).

    Parameters
    ----------
    method : str, default="ce"
        A key of ``catalog.METHODS``: "immax", "ce", "rw", "bs", "equal", "la", "cb", "focal",
        "ldam" or "vs".
    method_params : dict, optional
        The method's hyper-parameters, such as ``{"tau": 0.5}`` for "la".
    lam : float, default=1e-3
        With method "ce", scikit-learn's C is ``1 / (2 lam n)``.
    rule, costs, fit_intercept, solver, tol, max_iter
        As in IMMAXClassifier. Probabilities undo the method's own weights and offsets, so
        that rule="bayes" aims at the plain error (or costs) whatever the method aims at.
    random_state : int, RandomState instance or None, default=None
        Seeds the draws of "equal" and the solver's sampled rows. None is a fixed seed.

    Attributes
    ----------
    spec_ : LossSpec
        The method for the class counts that were seen.
    classes_, coef_, intercept_, objective_, gap_, n_iter_
        As in IMMAXClassifier; ``gap_`` is None for "focal", which is not convex.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> BaselineClassifier("la", method_params={"tau": 0.5}).fit(X, y).spec_.name
    'la'
    """

    def __init__(
        self,
        method: str = "ce",
        *,
        method_params: Mapping[str, Any] | None = None,
        lam: float = 1e-3,
        rule: str = "score",
        costs: ArrayLike | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.method_params = method_params
        self.lam = lam
        self.rule = rule
        self.costs = costs
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _risk(
        self,
        X: Any,  # noqa: ARG002 - the methods of the catalogue look at the counts alone
        y: Array,
        weight: Array,
        classes: Array,  # noqa: ARG002
        counts: Array,
    ) -> tuple[Any, dict[str, Any]]:
        spec = make_spec(self.method, counts, **dict(self.method_params or {}))
        drop = spec.draw(y.size, 0 if self.random_state is None else self.random_state)
        make: Callable[..., Any] = binary_risk if len(counts) == 2 else SoftmaxRisk
        return make(spec, y, weight, drop), {"spec_": spec}

    def _proba(self, scores: Array) -> Array:
        if scores.ndim == 1:
            scores = np.stack([-scores / 2, scores / 2], axis=1)
        return spec_proba(scores, self.spec_)


def _norms(X: Any) -> Array:
    """Of the rows; entries of a sparse matrix may have been given in parts."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return np.asarray(row_norms(X))
