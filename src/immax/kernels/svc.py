"""The support vector machine with a separate confidence margin for each class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array, Features, Vector
from immax.callbacks import CallbackSupport, fit_task
from immax.class_weights import resolve_weights, weighted_shares
from immax.documentation import DocumentationLink
from immax.foreign_parameters import RefusesForeignParameters
from immax.kernels.calibration import calibration_folds
from immax.kernels.gram import Kernel
from immax.kernels.machine import Machine, MachineOptions
from immax.kernels.machines import solve_machines, votes
from immax.kernels.parameters import KernelLike, check_parameters
from immax.kernels.samples import build_samples, kernel_norms
from immax.margins import class_radii, resolve_margins
from immax.plain_rules import by_score
from immax.validation import Sample, canonical_rows, check_flags, check_no_path, training_sample

__all__ = ["IMMAXSVC"]


def _has_proba(estimator: IMMAXSVC) -> bool:
    if not estimator.calibrated:
        raise AttributeError(
            "the hinge loss does not determine probabilities, so predict_proba does not exist; "
            "use calibrated=True, or wrap the estimator in "
            "sklearn.calibration.CalibratedClassifierCV, to get them from held-out scores"
        )
    return True


class IMMAXSVC(
    DocumentationLink, RefusesForeignParameters, CallbackSupport, ClassifierMixin, BaseEstimator
):
    """Kernel machine with a separate confidence margin for each class.

    Two classes::

        min over w, b of  lam ||w||^2 + mean of max(0, 1 - h / rho_1) over class 1
                                      and max(0, 1 + h / rho_0) over class 0

    Three classes or more, one weight vector per class::

        min over W, b of  lam ||W||^2 + mean of max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)

    with ``h = w phi(x) + b`` and phi the feature map of the kernel. The biases are not penalised,
    and means are weighted by ``sample_weight``.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in scikit-learn's SVC. A callable maps two matrices of points to the matrix of their
        kernel values; "precomputed" expects that matrix for X.
    gamma : {"scale", "auto"} or float, default="scale"
        The kernel's coefficient, as in SVC.
    degree : float, default=3
        The degree of the polynomial kernel.
    coef0 : float, default=0.0
        The constant of the polynomial and the sigmoid kernel.
    C : float, default=1.0
        The weight of a sample's loss against ``||W||^2 / 2``. With equal margins, which are
        one, it is SVC's C.
    lam : float, optional
        The paper's lambda, in place of C; ``C = 1 / (2 lam n)``.
    margins : "theory", "equal", array-like of shape (n_classes,) or dict, default="theory"
        Margins in the order of ``classes_``, or by label. "theory" is ``rho_k ∝ n_k^(1/3)`` with
        mean one, and "equal" is one for every class. Margins that you pass are used as given.
    weights : "equal", "balanced", array-like of shape (n_classes,) or dict, default="equal"
        Class weights of the losses, in the order of ``classes_`` or by label; "balanced" is
        ``n / n_k``. Only their ratios matter.
    multiclass : {"max", "ovo"}, default="max"
        For three classes and more: the paper's machine of all classes at once, or one machine
        for each pair of classes, with their margins, and a vote.
    cache_size : float, default=200
        Megabytes of kernel values to keep.
    tol : float, default=1e-3
        Two classes and "ovo": libsvm's stopping tolerance, as in SVC. "max": the fit stops when
        ``gap_`` is at most ``tol * objective_``.
    max_iter : int, default=-1
        The maximum number of iterations of libsvm, or of working sets with "max"; -1 is no limit.
    calibrated : bool, default=False
        Also calibrate probabilities on the held-out scores of five folds, for ``predict_proba``.
        Labels are still predicted by the scores.
    random_state : int, RandomState instance or None, default=None
        Seed of the calibration's folds. None is a fixed seed.
    use_radii : bool, default=False
        Let margins="theory" take each class's largest norm in the kernel's space into account,
        ``rho_k ∝ n_k^(1/3) r_k^(2/3)``. With the RBF kernel all norms are one.

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
        a positive score favours the second of the two.
    margins_ : ndarray of shape (n_classes,)
        The margins that were used.
    gamma_ : float
        The number that ``gamma`` stands for.
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
    array([0.913, 1.087])
    >>> bool(model.gap_ <= 1e-3 * model.objective_)
    True
    """

    weights: str | ArrayLike | Mapping[Any, float] = "equal"  # of models of earlier versions
    use_radii: bool = False
    _foreign = MappingProxyType(
        {
            "class_weight": "weights='balanced' (or an array, or a dict) weighs the classes",
            "probability": "calibrated=True gives probabilities",
            "decision_function_shape": "multiclass= is 'max' or 'ovo'",
        }
    )

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        lam: float | None = None,
        margins: str | ArrayLike | Mapping[Any, float] = "theory",
        weights: str | ArrayLike | Mapping[Any, float] = "equal",
        multiclass: str = "max",
        cache_size: float = 200,
        tol: float = 1e-3,
        max_iter: int = -1,
        calibrated: bool = False,
        random_state: int | np.random.RandomState | None = None,
        use_radii: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.lam = lam
        self.margins = margins
        self.weights = weights
        self.multiclass = multiclass
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.calibrated = calibrated
        self.random_state = random_state
        self.use_radii = use_radii

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _options(self) -> MachineOptions:
        return MachineOptions(self.tol, self.max_iter, self.cache_size)

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            For kernel="precomputed" the kernel matrix, (n, n).
        y : array-like of shape (n,)
            Labels of any kind, two classes or more, two samples or more of each.
        sample_weight : array-like of shape (n,), optional
            Non-negative. A weight of two counts as two samples, in the class counts too.

        Returns
        -------
        self
        """
        with fit_task(self, X, y, sample_weight, n_subtasks=0):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        options = self._options()
        check_flags(use_radii=self.use_radii, calibrated=self.calibrated)
        check_parameters(
            self.kernel,
            self.gamma,
            self.multiclass,
            options,
            self.C,
            self.lam,
            self.degree,
            self.coef0,
        )
        check_no_path(X)
        given = X
        sparse_ok = False if self.kernel == "precomputed" else "csr"
        X, checked = validate_data(self, X, y, accept_sparse=sparse_ok, dtype=np.float64, order="C")
        X = canonical_rows(X)
        sample = training_sample(X, checked, sample_weight)
        weighted = np.flatnonzero(sample.weight)
        labels, weight = sample.labels[weighted], sample.weight[weighted]
        rows = np.bincount(labels, minlength=len(sample.classes))
        single = np.flatnonzero((rows < 2) & (sample.counts <= 1))
        if single.size:
            names = sample.classes[single].tolist()
            raise ValueError(
                f"every class needs two samples or more; the classes {names} have one: leave "
                "them out, or join them to another class"
            )
        if self.calibrated:
            self._fit_calibrated(given, checked, sample)
            return
        lam = 1 / (2 * self.C * weight.sum()) if self.lam is None else float(self.lam)
        data, gamma = build_samples(
            X,
            self.kernel,
            sample.weight,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
        )
        radii = None
        if self.use_radii:
            radii = class_radii(kernel_norms(data), labels, len(sample.classes))
        rho = resolve_margins(self.margins, sample.classes, sample.counts, radii)
        weights = resolve_weights(self.weights, sample.classes, sample.counts)
        limits = weighted_shares(weight, labels, weights) / (2 * lam * weight.sum())
        machines = solve_machines(data, labels, limits, rho, self.multiclass, options)
        self._keep(machines, X, weighted, sample, rho, lam, gamma)
        if not all(machine.converged for machine in machines):
            warnings.warn(
                f"the fit stopped after {self.n_iter_} iterations at the objective "
                f"{self.objective_:.6g}, within {self.gap_:.3g} of the optimum; raise max_iter or "
                "tol, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep(
        self,
        machines: list[Machine],
        X: Features,
        weighted: Array,
        sample: Sample,
        rho: Vector,
        lam: float,
        gamma: float,
    ) -> None:
        """Set the fitted attributes."""
        coefficients = np.concatenate([machine.coefficients for machine in machines])
        support = np.flatnonzero(coefficients.any(axis=0))
        self.classes_ = sample.classes
        self.margins_ = rho
        self.support_ = weighted[support]
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

    @property
    def gamma_(self) -> float:
        """The number that ``gamma`` stands for."""
        check_is_fitted(self)
        return float(self._gamma)

    def _fit_calibrated(self, X: Features, y: Array, sample: Sample) -> None:
        """Fit to folds, calibrate their held-out scores, and fit to all samples."""
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.model_selection import PredefinedSplit

        parameters = self.get_params(deep=False)
        machine = type(self)(**{**parameters, "calibrated": False})  # without callbacks
        folds = PredefinedSplit(calibration_folds(sample, self.random_state))
        calibrated = CalibratedClassifierCV(machine, cv=folds, ensemble=False)
        calibrated.fit(X, y, sample.weight)
        fitted = calibrated.calibrated_classifiers_[0].estimator
        learnt = {name: value for name, value in vars(fitted).items() if name not in parameters}
        self.__dict__.update(learnt)
        self.calibration_ = calibrated

    def _scores(self, X: Features) -> Array:
        check_is_fitted(self)
        check_no_path(X)
        sparse_ok = False if self.kernel == "precomputed" else "csr"
        X = validate_data(self, X, accept_sparse=sparse_ok, dtype=np.float64, reset=False)
        X = canonical_rows(X)
        if self.kernel == "precomputed":
            products = X[:, self.support_] @ self.dual_coef_.T
        else:
            vectors = self.support_vectors_
            if sparse.issparse(X) != sparse.issparse(vectors):
                X = X.toarray() if sparse.issparse(X) else sparse.csr_matrix(X)
            kernel = Kernel(self.kernel, vectors, self._gamma, self.degree, self.coef0)
            products = kernel.combine(X, self.dual_coef_)
        return np.asarray(products + self.intercept_)

    def decision_function(self, X: Features) -> Array:
        """Return the scores of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features; for kernel="precomputed" kernel values with the training samples, (n, m).

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes the score of ``classes_[1]``, else a score for each class. For "ovo"
            these are the votes of the pairs, with a fraction for their confidence.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 0])
        return scores if self.multiclass == "max" else votes(scores, len(self.classes_))

    def predict(self, X: Features) -> Array:
        """Predict labels by the highest score; ties go to the highest class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features; for kernel="precomputed" kernel values with the training samples, (n, m).

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[by_score(scores)])

    @available_if(_has_proba)
    def predict_proba(self, X: Features) -> Array:
        """Return the calibrated class probabilities, which need ``calibrated=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features; for kernel="precomputed" kernel values with the training samples, (n, m).

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.calibration_.predict_proba(X))
