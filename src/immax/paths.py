"""The models of a decreasing sequence of lam, and the lam at which they begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from immax.arrays import Array, Features
from immax.linear import BaselineClassifier, IMMAXClassifier
from immax.losses.risks import Risk
from immax.solvers import Problem, Solution, solve
from immax.solvers.compiled_risks import with_compiled_risk
from immax.solvers.empty_models import strongest_lam
from immax.solvers.memory import Memory
from immax.solvers.problem import is_smooth

__all__ = ["CoefficientPath", "lam_max", "lam_sequence", "path", "solve_path"]


@dataclass(frozen=True)
class CoefficientPath:
    """Linear models for a decreasing sequence of lam.

    Attributes
    ----------
    lams : ndarray of shape (n_lams,)
        The strengths of the penalty, the largest first.
    coefs : tuple of CSR arrays of shape (1, d) or (n_classes, d)
        The coefficients of each model that are not zero.
    intercepts : ndarray of shape (n_lams, 1) or (n_lams, n_classes)
        The biases.
    objectives, gaps : ndarrays of shape (n_lams,)
        The objectives, and bounds on how far they lie above the optima. Gaps are NaN for a loss
        that is not convex.
    n_iters : ndarray of int, shape (n_lams,)
        The iterations of each fit.
    classes : ndarray of shape (n_classes,)
        The labels.
    penalty : str
        The name of the penalty.
    feature_names : tuple of str or None
        The names of the features, if X had them.
    """

    lams: Array
    coefs: tuple[sparse.csr_array, ...]
    intercepts: Array
    objectives: Array
    gaps: Array
    n_iters: Array
    classes: Array
    penalty: str
    feature_names: tuple[str, ...] | None = None

    @property
    def n_features_used(self) -> Array:
        """The number of features that each model uses."""
        return np.array([np.unique(coef.indices).size for coef in self.coefs])

    def coefficients(self, columns: ArrayLike | None = None) -> Array:
        """Return the coefficients as an array.

        Parameters
        ----------
        columns : array-like of int, optional
            Which features; by default those that any of the models uses.

        Returns
        -------
        ndarray of shape (n_lams, 1 or n_classes, n_columns)
        """
        chosen = self.used() if columns is None else np.asarray(columns)
        return np.stack([coef[:, chosen].toarray() for coef in self.coefs])

    def used(self) -> Array:
        """Return the features that any of the models uses.

        Returns
        -------
        ndarray of int
            Their numbers, ascending.
        """
        return np.unique(np.concatenate([coef.indices for coef in self.coefs]))


def lam_max(
    X: Features,
    y: ArrayLike,
    estimator: IMMAXClassifier | BaselineClassifier | None = None,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> float:
    """Return the smallest lam at which the model uses no feature.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Labels.
    estimator : IMMAXClassifier or BaselineClassifier, optional
        The classifier; its own lam does not matter. By default IMMAXClassifier(penalty="l1").
    sample_weight : array-like of shape (n,), optional
        Non-negative.
    **params
        Parameters of the classifier to be changed, such as ``penalty="group"``.

    Returns
    -------
    float
        For a loss with kinks within a relative precision of about 1e-6.

    Raises
    ------
    ValueError
        If the penalty is l2, or an elastic net without its l1 norm: with these every feature is
        used at any lam.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(lam_max(scale(X), y, margins="equal"), 4)
    0.3837
    """
    problem = _estimator(estimator, params).training(X, y, sample_weight).problem
    return _strongest(problem)


def path(
    X: Features,
    y: ArrayLike,
    estimator: IMMAXClassifier | BaselineClassifier | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    lams: ArrayLike | None = None,
    n_lams: int = 50,
    ratio: float = 1e-3,
    **params: Any,
) -> CoefficientPath:
    """Fit the models of a decreasing sequence of lam, each from the one before.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Labels.
    estimator : IMMAXClassifier or BaselineClassifier, optional
        The classifier; its own lam does not matter. By default IMMAXClassifier(penalty="l1").
    sample_weight : array-like of shape (n,), optional
        Non-negative.
    lams : array-like, optional
        Positive numbers. By default ``n_lams`` of them from ``lam_max`` down to ``ratio`` times
        that, in equal proportions.
    n_lams : int, default=50
        The number of models.
    ratio : float, default=1e-3
        The smallest lam in units of the largest.
    **params
        Parameters of the classifier to be changed, such as ``penalty="group"``.

    Returns
    -------
    CoefficientPath

    Raises
    ------
    ValueError
        If ``lams`` are not positive, or are not given and the penalty has no ``lam_max``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path(scale(X), y, n_lams=5, ratio=0.1).n_features_used
    array([0, 3, 2, 4, 5])
    """
    classifier = _estimator(estimator, params)
    data, _, problem = classifier.training(X, y, sample_weight)
    given = None if lams is None else np.asarray(lams, dtype=np.float64)
    sequence = lam_sequence(problem, n_lams, ratio) if given is None else _descending(given)
    d = problem.X.shape[1]
    solutions = list(solve_path(problem, sequence, classifier.tol, int(classifier.max_iter)))
    outputs = problem.shape[0]
    intercepts = [
        solution.theta[:, d] if problem.fit_intercept else np.zeros(outputs)
        for solution in solutions
    ]
    names = getattr(classifier, "feature_names_in_", None)
    return CoefficientPath(
        sequence,
        tuple(sparse.csr_array(problem.weights(solution.theta)) for solution in solutions),
        np.array(intercepts),
        np.array([solution.objective for solution in solutions]),
        np.array([np.nan if solution.gap is None else solution.gap for solution in solutions]),
        np.array([solution.n_iter for solution in solutions]),
        data.classes,
        classifier.penalty,
        None if names is None else tuple(names),
    )


def lam_sequence(problem: Problem[Risk], n_lams: int = 50, ratio: float = 1e-3) -> Array:
    """Return values of lam in equal proportions, from the strongest one down.

    Parameters
    ----------
    problem : Problem
        A problem with a penalty that has kinks.
    n_lams : int, default=50
        How many values.
    ratio : float, default=1e-3
        The smallest in units of the largest, between 0 and 1.

    Returns
    -------
    ndarray of shape (n_lams,)

    Raises
    ------
    ValueError
        If there is no strongest lam, or if a number makes no sense.
    """
    if int(n_lams) != n_lams or n_lams < 1:
        raise ValueError(f"n_lams must be a positive whole number; got {n_lams!r}")
    if not 0 < ratio < 1:
        raise ValueError(f"ratio must be between 0 and 1; got {ratio!r}")
    strongest = _strongest(problem)
    if strongest == 0:
        raise ValueError("no feature is related to y: the model is empty at any lam")
    return np.asarray(strongest * np.geomspace(1, ratio, int(n_lams)))


def solve_path(
    problem: Problem[Risk], lams: Array, tol: float = 1e-6, max_iter: int = 1000
) -> Iterator[Solution]:
    """Solve a problem for each of the values of lam, each from the solution before.

    Parameters
    ----------
    problem : Problem
        The problem; its own lam does not matter.
    lams : ndarray
        Values of lam, the largest first.
    tol : float, default=1e-6
        As in ``immax.solvers.solve``.
    max_iter : int, default=1000
        Upper bound on the number of iterations for each.

    Yields
    ------
    Solution
        One after the other.
    """
    theta = None
    problem = with_compiled_risk(problem)  # once, so that one solution serves the next start
    # What is remembered of kinks or of a smooth penalty belongs to one lam.
    memory = Memory() if is_smooth(problem) and not problem.omega.smooth else None
    for lam in lams:
        solution = solve(
            replace(problem, lam=float(lam)),
            start=theta,
            tol=tol,
            max_iter=max_iter,
            polish=False,
            memory=memory,
        )
        theta = solution.theta
        yield solution


def _estimator(
    estimator: IMMAXClassifier | BaselineClassifier | None, params: dict[str, Any]
) -> IMMAXClassifier | BaselineClassifier:
    made = IMMAXClassifier(penalty="l1") if estimator is None else clone(estimator)
    return made.set_params(**params)


def _strongest(problem: Problem[Risk]) -> float:
    if problem.omega.smooth:
        raise ValueError(
            "with the l2 penalty every feature is used at any lam; use penalty='l1', 'group', or "
            "'elasticnet' with a positive l1_ratio, or give lams"
        )
    return strongest_lam(problem)


def _descending(lams: Array) -> Array:
    values = np.ravel(lams)
    if not values.size or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"lams must be positive, finite numbers; got {values.tolist()}")
    return np.sort(values)[::-1]
