"""Kernel machines: the support vector machine with a margin of its own for each class."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array
from immax.kernels.gram import KERNELS, Kernel
from immax.kernels.machine import Machine
from immax.kernels.machines import solve_machines, votes
from immax.kernels.samples import Data, Matrix, Points
from immax.links import by_score
from immax.margins import resolve_margins
from immax.validation import Sample, check_choice, check_positive, training_sample

__all__ = ["IMMAXSVC"]

FOLDS = 5  # of a calibration
TILE = 1024  # rows and columns of a matrix that are compared at once


def _has_proba(estimator: IMMAXSVC) -> bool:
    if not estimator.calibrated:
        raise AttributeError(
            "the hinge loss does not determine probabilities, so predict_proba does not exist; "
            "take calibrated=True, or wrap the estimator in "
            "sklearn.calibration.CalibratedClassifierCV, to get them from held-out scores"
        )
    return True


class IMMAXSVC(ClassifierMixin, BaseEstimator):
    """Kernel machine with a confidence margin of its own for each class.

    Two classes::

        min over w, b of  lam ||w||^2 + mean of max(0, 1 - h / rho_1) over class 1
                                      and max(0, 1 + h / rho_0) over class 0

    More classes, a weight vector each::

        min over W, b of  lam ||W||^2 + mean of max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)

    with ``h = w phi(x) + b`` and phi the feature map of the kernel. The biases are not penalised,
    means are weighted by ``sample_weight``.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in scikit-learn's SVC. A callable takes two matrices of points to the matrix of their
        kernel values; "precomputed" expects that matrix for X.
    gamma : {"scale", "auto"} or float, default="scale"
    degree : float, default=3
    coef0 : float, default=0.0
        As in SVC.
    C : float, default=1.0
        The weight of a sample's loss against ``||W||^2 / 2``. With equal margins, which are
        one, it is SVC's C.
    lam : float, optional
        The paper's lambda, in place of C; ``C = 1 / (2 lam n)``.
    margins : "theory", "equal", array-like of shape (n_classes,) or dict, default="theory"
        Margins in the order of ``classes_``, or by label. "theory" is ``rho_k ∝ n_k^(1/3)`` with
        mean one, and "equal" is one for every class. Margins that are given are used as they are.
    multiclass : {"max", "ovo"}, default="max"
        For three classes and more: the paper's machine of all classes at once, or a machine for
        each pair of classes, with the margins of the two, which vote.
    cache_size : float, default=200
        Megabytes of kernel values to keep.
    tol : float, default=1e-3
        Two classes and "ovo": libsvm's stopping tolerance, as in SVC. "max": the fit stops when
        ``gap_`` is at most ``tol * objective_``.
    max_iter : int, default=-1
        Iterations at the most: libsvm's, or working sets of "max". -1 is no limit.
    calibrated : bool, default=False
        Also fit probabilities to held-out scores of five folds, for ``predict_proba``. Predictions
        stay those of the scores.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds of a calibration. None is a fixed seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of int, shape (n_support,)
        Indices of the support vectors in X.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, d)
        Empty for kernel="precomputed".
    n_support_ : ndarray of int, shape (n_classes,)
    dual_coef_ : ndarray of shape (k, n_support)
    intercept_ : ndarray of shape (k,)
        ``dual_coef_ @ K(support_vectors_, x) + intercept_`` are the scores: k is one for two
        classes, the number of classes for "max", and of pairs for "ovo", (0, 1), (0, 2), ..., where
        a positive score speaks for the second of the two.
    margins_ : ndarray of shape (n_classes,)
        The margins that were used.
    objective_ : float
        The objective that was reached; for "ovo", the sum of the pairs'.
    gap_ : float
        An upper bound on how far ``objective_`` lies above the optimum: a duality gap.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X had them

    References
    ----------
    Cortes, Mao, Mohri and Zhong, *Balancing the Scales: A Theoretical and Algorithmic
    Framework for Learning from Imbalanced Data*, ICML 2025: eqs. (binary) and the multi-class
    algorithm with the hinge loss.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXSVC().fit(scale(X), y)
    >>> model.margins_.round(3)
    array([0.914, 1.086])
    >>> bool(model.gap_ <= 1e-3 * model.objective_)
    True
    """

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        *,
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        lam: float | None = None,
        margins: str | ArrayLike | Mapping[Any, float] = "theory",
        multiclass: str = "max",
        cache_size: float = 200,
        tol: float = 1e-3,
        max_iter: int = -1,
        calibrated: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.lam = lam
        self.margins = margins
        self.multiclass = multiclass
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.calibrated = calibrated
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, (*KERNELS, "precomputed"))
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("scale", "auto"))
        else:
            check_positive("gamma", self.gamma)
        check_positive("C", self.C)
        if self.lam is not None:
            check_positive("lam", self.lam)
        check_positive("tol", self.tol)
        check_positive("cache_size", self.cache_size)
        check_choice("multiclass", self.multiclass, ("max", "ovo"))
        whole = isinstance(self.max_iter, (int, np.integer))
        if not whole or (self.max_iter < 1 and self.max_iter != -1):
            raise ValueError(
                f"max_iter must be a positive whole number, or -1; got {self.max_iter!r}"
            )

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            For kernel="precomputed" the kernel matrix, (n, n).
        y : array-like of shape (n,)
            Labels of any kind, two classes or more, two samples or more of each.
        sample_weight : array-like of shape (n,), optional
            Not negative. A weight of two counts as two samples, in the class counts too.

        Returns
        -------
        self
        """
        self._check_parameters()
        given = X
        sparse_ok = False if self.kernel == "precomputed" else "csr"
        X, y = validate_data(self, X, y, accept_sparse=sparse_ok, dtype=np.float64, order="C")
        sample = training_sample(X, y, sample_weight)
        kept = np.flatnonzero(sample.weight)
        labels, weight = sample.labels[kept], sample.weight[kept]
        rows = np.bincount(labels, minlength=len(sample.classes))
        single = np.flatnonzero((rows < 2) & (sample.counts <= 1))
        if single.size:
            names = sample.classes[single].tolist()
            raise ValueError(
                f"every class needs two samples or more; the classes {names} have one: leave "
                "them out, or join them to another class"
            )
        if self.calibrated:
            return self._fit_calibrated(given, y, sample)
        rho = resolve_margins(self.margins, sample.classes, sample.counts)
        lam = 1 / (2 * self.C * weight.sum()) if self.lam is None else float(self.lam)
        data, gamma = self._data(X, kept, weight)
        limits = weight / (2 * lam * weight.sum())
        machines = solve_machines(data, labels, limits, rho, self.multiclass, self._options())
        self._keep(machines, X, kept, sample, rho, lam, gamma)
        if not all(machine.converged for machine in machines):
            warnings.warn(
                f"the fit stopped after {self.n_iter_} iterations at the objective "
                f"{self.objective_:.6g}, within {self.gap_:.3g} of the optimum; raise max_iter or "
                "tol, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _data(self, X: Any, kept: Array, weight: Array) -> tuple[Data, float]:
        """The samples that count, and the kernel's gamma."""
        few = kept.size < X.shape[0]
        if self.kernel == "precomputed":
            _check_kernel_matrix(X, X.shape[0], "X")
            data: Data = Matrix(X)
            return (data.subset(kept) if few else data), 1.0
        if few:
            X = X[kept]
        if callable(self.kernel):
            values = np.ascontiguousarray(self.kernel(X, X), dtype=np.float64)
            _check_kernel_matrix(values, X.shape[0], "the kernel's matrix")
            return Matrix(values), 1.0
        gamma = _gamma(self.gamma, X, weight)
        return Points(X, self.kernel, gamma, self.degree, self.coef0), gamma

    def _options(self) -> dict[str, Any]:
        return {"tol": self.tol, "max_iter": self.max_iter, "cache_size": self.cache_size}

    def _keep(
        self,
        machines: list[Machine],
        X: Any,
        kept: Array,
        sample: Sample,
        rho: Array,
        lam: float,
        gamma: float,
    ) -> None:
        """Set the fitted attributes."""
        coefficients = np.concatenate([machine.coefficients for machine in machines])
        support = np.flatnonzero(coefficients.any(axis=0))
        self.classes_ = sample.classes
        self.margins_ = rho
        self.support_ = kept[support]
        self.support_vectors_ = (
            np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        )
        self.n_support_ = np.bincount(sample.labels[self.support_], minlength=rho.size)
        self.dual_coef_ = coefficients[:, support]
        self.intercept_ = np.concatenate([machine.biases for machine in machines])
        self.objective_ = 2 * lam * sum(machine.objective for machine in machines)
        self.gap_ = 2 * lam * sum(machine.gap for machine in machines)
        self.n_iter_ = sum(machine.n_iter for machine in machines)
        self._gamma = gamma

    def _fit_calibrated(self, X: Any, y: Any, sample: Sample) -> Self:
        """Fit to folds, calibrate their held-out scores, and fit to all."""
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.model_selection import PredefinedSplit

        machine = clone(self).set_params(calibrated=False)
        folds = PredefinedSplit(_folds(sample, self.random_state))
        calibrated = CalibratedClassifierCV(machine, cv=folds, ensemble=False)
        calibrated.fit(X, y, sample.weight)
        fitted = calibrated.calibrated_classifiers_[0].estimator
        parameters = self.get_params(deep=False)
        learnt = {name: value for name, value in vars(fitted).items() if name not in parameters}
        self.__dict__.update(learnt)
        self.calibration_ = calibrated
        return self

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        sparse_ok = False if self.kernel == "precomputed" else "csr"
        X = validate_data(self, X, accept_sparse=sparse_ok, dtype=np.float64, reset=False)
        if self.kernel == "precomputed":
            products = X[:, self.support_] @ self.dual_coef_.T
        else:
            vectors = self.support_vectors_
            if sparse.issparse(X) != sparse.issparse(vectors):
                X = X.toarray() if sparse.issparse(X) else sparse.csr_matrix(X)
            kernel = Kernel(self.kernel, vectors, self._gamma, self.degree, self.coef0)
            products = kernel.combine(X, self.dual_coef_)
        return np.asarray(products + self.intercept_)

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c).

        For "ovo" the votes of the pairs, and between whole numbers how sure they are.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 0])
        return scores if self.multiclass == "max" else votes(scores, len(self.classes_))

    def predict(self, X: Any) -> Array:
        """Labels by the highest score; the highest class on a tie."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[by_score(scores)])

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities by calibrated=True, shape (n, c)."""
        check_is_fitted(self)
        return np.asarray(self.calibration_.predict_proba(X))


def _folds(sample: Sample, random_state: Any) -> Array:
    """A fold for each sample, with a share of every class's weight in each."""
    labels, kept = sample.labels, sample.weight > 0
    smallest = int(np.bincount(labels[kept]).min())
    if smallest < 2:
        raise ValueError("calibrated=True needs two samples or more of every class, for its folds")
    rng = check_random_state(0 if random_state is None else random_state)
    order = rng.permutation(labels.size)
    order = order[np.lexsort([labels[order], kept[order]])]
    folds = np.empty(labels.size, dtype=int)
    folds[order] = np.arange(labels.size) % min(FOLDS, smallest)
    return folds


def _gamma(gamma: str | float, X: Any, weight: Array) -> float:
    """The number that is meant, as in SVC; a weight of two counts as two samples."""
    d = X.shape[1]
    if gamma == "auto":
        return 1.0 / d
    if gamma == "scale":
        share = weight / (weight.sum() * d)
        squares = X.multiply(X) if sparse.issparse(X) else X**2
        variance = float(np.sum(share @ squares) - np.sum(share @ X) ** 2)
        return 1.0 / (d * variance) if variance > 0 else 1.0
    return float(gamma)


def _check_kernel_matrix(K: Array, n: int, name: str) -> None:
    if K.shape != (n, n):
        raise ValueError(
            f"{name} must be square, with a row and a column for each of {n} samples; "
            f"got shape {K.shape}"
        )
    largest = 0.0
    furthest = 0.0
    for i in range(0, n, TILE):
        for j in range(0, i + 1, TILE):
            below, above = K[i : i + TILE, j : j + TILE], K[j : j + TILE, i : i + TILE]
            if not (np.isfinite(below).all() and np.isfinite(above).all()):
                raise ValueError(f"{name} holds values that are not finite")
            largest = max(largest, float(np.abs(below).max()))
            furthest = max(furthest, float(np.abs(below - above.T).max()))
    if furthest > 1e-6 * largest:
        raise ValueError(
            f"{name} must be symmetric; entries differ from those across by up to {furthest:.3g}"
        )
