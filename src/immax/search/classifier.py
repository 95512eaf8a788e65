"""The linear classifier with margins and lambda found by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array, Features
from immax.linear import IMMAXClassifier
from immax.losses.immax_risks import immax_risk
from immax.margins import theory_margins
from immax.paths import lam_sequence
from immax.penalties import Penalty, make_penalty
from immax.search.base import MarginSearch, penalty_grid
from immax.search.cells import Cells, LinearCells
from immax.search.families import MarginFamily
from immax.search.folds import CrossValidation, RandomState
from immax.search.held_out import HeldOutScorer
from immax.search.leave_one_out import MAX_PARAMETERS, LeaveOneOutCells
from immax.search.scoring import Scorer, Scoring
from immax.solvers import Problem
from immax.validation import Sample, check_choice

__all__ = ["IMMAXClassifierCV"]

LAMS = np.logspace(-6, 1, 8)
N_LAMS = 12  # along the path of a penalty that uses few features
LABEL_TOL, PROBABILITY_TOL = 3e-5, 1e-6  # of fits whose labels, or probabilities, are scored
LARGE = 500_000  # entries of X, from which on labels are searched for in single precision


def _best_has(name: str) -> Callable[[IMMAXClassifierCV], bool]:
    def check(search: IMMAXClassifierCV) -> bool:
        if search.loss == "hinge":
            raise AttributeError(
                "the hinge loss does not determine probabilities, so predict_proba does not "
                "exist; wrap the estimator in sklearn.calibration.CalibratedClassifierCV"
            )
        check_is_fitted(search)
        return hasattr(search.best_estimator_, name)

    return check


class IMMAXClassifierCV(MarginSearch):
    """IMMAXClassifier with margins, lambda and decision rule found by cross-validation.

    Every combination of margins and lambda is fitted to the training part of each fold, with a
    warm start from its neighbour, and scored on the test part by either rule. The margins of a
    fold are computed from the counts of its training part.

    Parameters
    ----------
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
        The surrogate.
    family : {"auto", "power", "box", "shared_tail", "free"} or MarginFamily, default="auto"
        The margins to search among. "auto" is "power": ``rho_k ∝ n_k^t`` with t from -1/2 to 1.
    lams : array-like of shape (n_lams,), default=None
        Values of lambda. None is eight values from 1e-6 to 10; for a penalty that uses few
        features, twelve along its path, from the lambda of the empty model with the theory's
        margins down to a thousandth of that.
    penalty, l1_ratio, groups
        The penalty, as in IMMAXClassifier.
    n_margins : int, default=10
        Values of each of the family's parameters.
    cv : int, "loo", splitter or iterable of (train, test), default=5
        A number is that many stratified, shuffled folds, or as many as the rarest class has
        samples, with a warning. "loo" is approximate leave-one-out: each cell is fitted once to
        all samples, and a Newton step leads from this fit to the model without each of them; the
        scores are those of ten stratified groups. It is for smooth losses and up to 1,000
        coefficients.
    scoring : str, callable or None, default="accuracy"
        Any of scikit-learn's scorers, or a function of (estimator, X, y). None is the accuracy.
    rule : {"auto", "score", "bayes"}, default="auto"
        "auto" compares both rules if the scorer looks at labels. The hinge has "score" only.
    one_se : bool, default=True
        Prefer the margins nearest to equal ones among those whose score is within a standard
        error (of the paired differences) of the best.
    budget : int, default=4000
        Upper bound on the number of fits to folds. If all combinations of a family's parameters
        need more, one parameter is searched at a time, in passes that start from the theory's
        margins.
    n_jobs : int, default=None
        The number of folds that joblib runs in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds. None is a fixed seed.
    refit : bool, default=True
        Whether to fit the choice to all samples.
    verbose : int, default=0
        Above zero, joblib reports its progress.

    Attributes
    ----------
    best_margins_ : ndarray of shape (n_classes,)
        The chosen margins, for the class counts of all samples.
    best_parameters_ : ndarray
        The chosen parameters of the family.
    theory_parameters_ : ndarray
        The parameters of the theory's margins, or the nearest to them.
    best_lam_ : float
        The chosen lambda.
    best_rule_ : {"score", "bayes"}
        The chosen decision rule.
    best_score_ : float
        The mean score of the choice over the folds.
    best_index_ : int
        The row of the choice in ``cv_results_``.
    cv_results_ : dict of arrays
        As in GridSearchCV; ``pandas.DataFrame(model.cv_results_)`` shows it.
    n_splits_ : int
        The number of folds, or of groups with cv="loo".
    best_estimator_ : IMMAXClassifier
        The choice, fitted to all samples.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_, intercept_, margins_, objective_, gap_, n_iter_, n_features_used_
        Attributes of ``best_estimator_``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X had them.

    See Also
    --------
    IMMAXClassifier : The same model with given margins and lambda.
    IMMAXSVCCV : The search for kernel machines.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXClassifierCV().fit(scale(X), y)
    >>> len(model.cv_results_["params"])
    160
    >>> bool(model.best_score_ > 0.97)
    True
    """

    _penalty_name = "lam"
    _copied = (
        "coef_",
        "intercept_",
        "margins_",
        "objective_",
        "gap_",
        "n_iter_",
        "n_features_used_",
    )
    best_estimator_: IMMAXClassifier
    best_lam_: float

    def __init__(
        self,
        loss: str = "logistic",
        *,
        family: str | MarginFamily = "auto",
        lams: ArrayLike | None = None,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: ArrayLike | None = None,
        n_margins: int = 10,
        cv: CrossValidation = 5,
        scoring: Scoring = "accuracy",
        rule: str = "auto",
        one_se: bool = True,
        budget: int = 4000,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        refit: bool = True,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.family = family
        self.lams = lams
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.n_margins = n_margins
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.one_se = one_se
        self.budget = budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.refit = refit
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, ("logistic", "hinge", "exponential"))
        check_choice("rule", self.rule, ("auto", "score", "bayes"))
        omega = make_penalty(self.penalty, self.l1_ratio, self.groups)
        if isinstance(self.cv, str) and not omega.smooth:
            raise ValueError(
                f"cv='loo' needs penalty='l2'; penalty={self.penalty!r} has kinks, where a Newton "
                "step does not lead from one model to another: take a number of folds"
            )
        if self.loss == "hinge" and self.rule == "bayes":
            raise ValueError(
                "rule='bayes' needs probabilities, which the hinge loss does not determine"
            )
        if self.loss == "hinge" and isinstance(self.cv, str):
            raise ValueError(
                "cv='loo' needs a smooth loss, logistic or exponential; the hinge has kinks, where "
                "a Newton step does not lead from one model to another: take a number of folds"
            )

    def _penalties(self) -> Array:
        return penalty_grid("lams", self.lams, LAMS)[::-1]

    def _omega(self, n_features: int) -> Penalty:
        return make_penalty(self.penalty, self.l1_ratio, self.groups, n_features)

    def _penalties_for(self, X: Features, sample: Sample) -> Array:
        omega = self._omega(X.shape[1])
        if self.lams is not None or omega.smooth:
            return self._penalties()
        # The hinge is steeper than the logistic loss at zero, by about a factor of two.
        smooth, factor = ("logistic", 2.0) if self.loss == "hinge" else (self.loss, 1.0)
        share = (sample.weight / sample.weight.sum()).astype(X.dtype)
        risk = immax_risk(smooth, "auto", sample.labels, theory_margins(sample.counts), share)
        return factor * lam_sequence(Problem(X, risk, 1.0, omega=omega), N_LAMS)

    @property
    def sparse_coef_(self) -> sparse.csr_array:
        """``coef_`` as a CSR array, which holds only the coefficients that are not zero."""
        self._check_refitted()
        return self.best_estimator_.sparse_coef_

    def _penalty_strengths(self, penalties: Array) -> Array:
        return penalties

    @property
    def _loss(self) -> str:
        return self.loss

    def _rules(self, scorer: Scorer) -> list[str]:
        if self.rule != "auto":
            return [self.rule]
        return ["score", "bayes"] if self.loss != "hinge" and scorer.uses_labels else ["score"]

    def _cells(
        self, X: Features, sample: Sample, weight: Array | None, scorer: Scorer, rules: list[str]
    ) -> Cells:
        omega = self._omega(X.shape[1])
        held_out = HeldOutScorer(X, sample.labels, weight, sample.classes, self.loss, rules, scorer)
        if isinstance(self.cv, str):
            outputs = 1 if len(sample.classes) == 2 else len(sample.classes)
            if outputs * (X.shape[1] + 1) > MAX_PARAMETERS:
                raise ValueError(
                    f"cv='loo' inverts a matrix of {outputs * (X.shape[1] + 1)} rows; beyond "
                    f"{MAX_PARAMETERS} take a number of folds"
                )
            return LeaveOneOutCells(held_out, PROBABILITY_TOL)
        if not scorer.uses_labels:
            return LinearCells(held_out, PROBABILITY_TOL, omega)
        entries = X.nnz if sparse.issparse(X) else X.size
        if entries >= LARGE:
            # Half the bytes take half the time, and labels need no more precision.
            held_out = replace(held_out, X=X.astype(np.float32))
        return LinearCells(held_out, LABEL_TOL, omega)

    def _final_classifier(self) -> IMMAXClassifier:
        return IMMAXClassifier(
            self.loss,
            lam=self.best_lam_,
            penalty=self.penalty,
            l1_ratio=self.l1_ratio,
            groups=self.groups,
            margins=self.best_margins_,
            rule=self.best_rule_,
        )

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Features) -> Array:
        """Return class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        self._check_refitted()
        return self.best_estimator_.predict_proba(X)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Features) -> Array:
        """Return logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        self._check_refitted()
        return self.best_estimator_.predict_log_proba(X)
