"""The machine of linear classifiers, whatever their loss."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array, Features, Vector
from immax.callbacks import CallbackSupport, IterationTasks, fit_task
from immax.documentation import DocumentationLink
from immax.foreign_parameters import RefusesForeignParameters
from immax.links import by_score, check_costs, decide
from immax.losses.risks import KinkedRisk, Risk, SmoothRisk
from immax.penalties import make_penalty
from immax.penalties.registry import Groups
from immax.solvers import SOLVER_NAMES, Problem, solve
from immax.solvers.problem import Solution
from immax.validation import (
    check_choice,
    check_flags,
    check_no_path,
    check_positive,
    is_path,
    training_sample,
)

__all__ = ["LinearClassifier", "Training", "TrainingData", "has_proba"]

FLOATS = [np.float64, np.float32]
L = TypeVar("L")


class TrainingData(NamedTuple):
    """Samples with a positive weight, and their classes."""

    X: Features  # (n, d), dense or CSR, float32 or float64
    y: Array  # (n,), indices of classes
    weight: Array  # (n,), sums to one
    classes: Array  # (c,), the labels
    counts: Vector  # (c,), total weights


class Training(NamedTuple, Generic[L]):
    """The problem that a fit minimises, and what it is derived from."""

    data: TrainingData
    loss: L
    problem: Problem[Risk]


def has_proba(estimator: LinearClassifier[Any]) -> bool:
    """Return True, or raise AttributeError if the loss does not determine probabilities.

    Parameters
    ----------
    estimator : LinearClassifier
        Fitted or not.

    Returns
    -------
    bool
    """
    reason = estimator._why_no_proba()
    if reason:
        raise AttributeError(
            f"{reason} does not determine probabilities, so predict_proba does not exist; wrap "
            "the estimator in sklearn.calibration.CalibratedClassifierCV to get them"
        )
    return True


class LinearClassifier(
    DocumentationLink,
    RefusesForeignParameters,
    CallbackSupport,
    ClassifierMixin,
    BaseEstimator,
    Generic[L],
):
    """Base of classifiers that minimise ``lam Omega(W) + mean loss`` over W and free biases.

    A subclass makes its loss for the training data (margins, or a LossSpec, of type L), the risk
    of that loss, and probabilities from scores.
    """

    lam: float
    # The defaults are for models of earlier versions.
    penalty: str = "l2"
    l1_ratio: float = 0.5
    groups: Groups | None = None
    rule: str
    costs: ArrayLike | None
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int
    random_state: int | np.random.RandomState | None
    warm_start: bool = False
    classes_: Array
    coef_: Array
    intercept_: Array
    n_features_used_: int
    preparation_: Any  # of models that were fitted to a file or folder

    @abstractmethod
    def _make_loss(self, data: TrainingData) -> L:
        """Return what the loss is made of for these data."""

    @abstractmethod
    def _risk(self, loss: L, data: TrainingData) -> SmoothRisk | KinkedRisk:
        """Return the mean loss of the training data."""

    @abstractmethod
    def _loss_attributes(self, loss: L) -> dict[str, Any]:
        """Return the fitted attributes that hold the loss."""

    @abstractmethod
    def _proba(self, scores: Array) -> Array:
        """Return class probabilities from the scores of ``decision_function``."""

    def _why_no_proba(self) -> str | None:
        """Return what does not determine probabilities, or None."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_positive("lam", self.lam)
        check_flags(fit_intercept=self.fit_intercept, warm_start=self.warm_start)
        make_penalty(self.penalty, self.l1_ratio, self.groups)
        check_positive("tol", self.tol)
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a positive whole number; got {self.max_iter!r}")
        check_choice("rule", self.rule, ("score", "bayes"))
        check_choice("solver", self.solver, ("auto", *SOLVER_NAMES))
        if self.costs is not None and self.rule != "bayes":
            raise ValueError("costs are taken into account by rule='bayes' only; got rule='score'")

    def _fit_files(self, path: Any, target: Any, sample_weight: Any) -> Self:  # noqa: ARG002
        """Fit the model to Parquet files; a model that cannot be raises TypeError."""
        check_no_path(path)
        return self

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d), or path
            Features; float32 stays float32 during the fit. IMMAXClassifier also takes the path of
            a Parquet file or folder, which may be larger than memory. Its columns are prepared
            like those of ``immax fit``: missing values are imputed, categories encoded, and
            numbers scaled. ``immax.distributed.StreamIMMAXClassifier`` takes columns of numbers
            as they are.
        y : array-like of shape (n,) or str
            Labels of any kind, two classes or more; in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            Non-negative. A weight of two counts as two samples, in the class counts too. In files,
            the name of their column.

        Returns
        -------
        self
        """
        if is_path(X):
            return self._fit_files(X, y, sample_weight)
        with fit_task(self, X, y, sample_weight) as task:
            data, loss, problem = self.training(X, y, sample_weight)
            n_features = data.X.shape[1]
            iterations = None
            if task.watched:
                iterations = IterationTasks(
                    task, lambda theta: self._attributes(data.classes, loss, theta, n_features)
                )
            seed = 0 if self.random_state is None else self.random_state
            solution = solve(
                problem,
                self.solver,
                start=self._start(data.classes, problem) if self.warm_start else None,
                tol=self.tol,
                max_iter=int(self.max_iter),
                random_state=int(check_random_state(seed).randint(2**31 - 1)),
                on_iteration=iterations,
            )
            if iterations is not None:
                iterations.close()
            self.take_solution(data.classes, loss, solution, n_features)
        return self

    def _attributes(self, classes: Array, loss: L, theta: Array, n_features: int) -> dict[str, Any]:
        """Return what predictions need of a fit that ends at these parameters."""
        coef = theta[:, :n_features].copy()
        return {
            "classes_": classes,
            **self._loss_attributes(loss),
            "coef_": coef,
            "intercept_": (
                theta[:, n_features].copy()
                if self.fit_intercept
                else np.zeros(len(theta), dtype=theta.dtype)
            ),
            "n_features_used_": int(coef.any(axis=0).sum()),
        }

    def take_solution(self, classes: Array, loss: L, solution: Solution, n_features: int) -> None:
        """Set the fitted attributes from a solution, wherever it was computed.

        All attributes are set at the end, so that a fit that fails leaves an earlier one.

        Parameters
        ----------
        classes : ndarray of shape (c,)
            The labels, sorted.
        loss : object
            The loss, as ``training`` returns it.
        solution : Solution
            Of the problem of ``training``. A warning is given if it did not converge.
        n_features : int
            The number of features.
        """
        for name, value in self._attributes(classes, loss, solution.theta, n_features).items():
            setattr(self, name, value)
        if hasattr(self, "preparation_"):  # of an earlier fit
            del self.preparation_
        self.objective_ = solution.objective
        self.gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            reached = "" if solution.gap is None else f" within {solution.gap:.3g} of the optimum"
            warnings.warn(
                f"the fit stopped after {solution.n_iter} iterations at the objective "
                f"{solution.objective:.6g}{reached}; raise max_iter or tol, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )

    def training(
        self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Training[L]:
        """Return the problem that ``fit`` solves, without solving it.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Labels of any kind, two classes or more.
        sample_weight : array-like of shape (n,), optional
            Non-negative.

        Returns
        -------
        Training
            The samples with a positive weight, their loss and the problem.
        """
        self._check_parameters()
        check_no_path(X)
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        data = self._training_data(X, labels, sample_weight)
        loss = self._make_loss(data)
        names = getattr(self, "feature_names_in_", None)
        omega = make_penalty(self.penalty, self.l1_ratio, self.groups, data.X.shape[1], names)
        lam, intercept = float(self.lam), bool(self.fit_intercept)
        return Training(data, loss, Problem(data.X, self._risk(loss, data), lam, intercept, omega))

    def _start(self, classes: Array, problem: Problem[Risk]) -> Array | None:
        """Return the parameters of an earlier fit to the same classes and features, or None."""
        if not hasattr(self, "coef_") or not np.array_equal(self.classes_, classes):
            return None
        start = problem.zeros()
        if self.coef_.shape != problem.weights(start).shape:
            return None
        problem.weights(start)[:] = self.coef_
        if problem.fit_intercept:
            start[:, -1] = self.intercept_
        return start

    @property
    def penalty_has_kinks(self) -> bool:
        """Whether the penalty leaves coefficients at zero; an elastic net without l1 does not."""
        return not make_penalty(self.penalty, self.l1_ratio).smooth

    @property
    def sparse_coef_(self) -> sparse.csr_array:
        """``coef_`` as a CSR array, which holds only the coefficients that are not zero."""
        check_is_fitted(self)
        return sparse.csr_array(self.coef_)

    def _training_data(
        self, X: Features, y: Array, sample_weight: ArrayLike | None
    ) -> TrainingData:
        classes, labels, weight, counts = training_sample(X, y, sample_weight)
        if self.costs is not None:
            check_costs(self.costs, len(classes))
        if not weight.all():
            weighted = np.flatnonzero(weight)
            X, labels, weight = X[weighted], labels[weighted], weight[weighted]
        if not sparse.issparse(X) and not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        share = (weight / weight.sum()).astype(X.dtype)
        return TrainingData(X, labels, share, classes, counts)

    def decision_function(self, X: Features) -> Array:
        """Return the scores of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d), or path
            Features. A model that was fitted to a file or folder takes data frames with the same
            columns, and paths.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes the score of ``classes_[1]``, else a score for each class.
        """
        check_is_fitted(self)
        if is_path(X) and hasattr(self, "preparation_"):
            from immax.tabular.table_fits import score_table

            return score_table(self, X)
        X = self.features(X, FLOATS)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def features(self, X: Features, dtype: Any) -> Features:
        """Return the features that ``coef_`` is for: X itself, unless a table was prepared.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            What predictions are for.
        dtype : dtype or list of dtype
            Of the result; of a list, the first is used for what is of none of them.

        Returns
        -------
        {ndarray, CSR matrix} of shape (n, number of columns of ``coef_``)
        """
        check_no_path(X)
        if hasattr(self, "preparation_"):
            return np.asarray(self.preparation_.transform(X), dtype=np.float64)
        return validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=False)

    def predict(self, X: Features) -> Array:
        """Predict labels by ``rule``; ties go to the highest class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if self.rule == "bayes":
            return np.asarray(self.classes_[decide(self.predict_proba(X), self.costs)])
        return np.asarray(self.classes_[by_score(self.decision_function(X))])

    @available_if(has_proba)
    def predict_proba(self, X: Features) -> Array:
        """Return class probabilities, by the link that inverts the loss.

        They are exact where the scores minimise the expected loss at every x. Linear scores can do
        so for equal margins, where the true log-odds are linear; for unequal margins they are then
        off, the more so the larger the spread of the margins.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._proba(self.decision_function(X))

    @available_if(has_proba)
    def predict_log_proba(self, X: Features) -> Array:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
