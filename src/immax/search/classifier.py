"""The linear classifier with margins and lambda found by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array
from immax.linear import IMMAXClassifier
from immax.search.base import MarginSearch, grid_of
from immax.search.cells import Cells, Judge, LinearCells
from immax.search.families import MarginFamily
from immax.search.leave_one_out import MOST_PARAMETERS, LeaveOneOut
from immax.search.scoring import Scorer
from immax.validation import Sample, check_choice

__all__ = ["IMMAXClassifierCV"]

LAMS = np.logspace(-6, 1, 8)
ROUGH, FINE = 3e-5, 1e-6  # of an objective, for labels and for probabilities
LARGE = 500_000  # entries of X that are searched in single precision


def _best_has(name: str) -> Any:
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

    Every combination of margins and lambda is fitted to each fold, warm-started from its
    neighbour, and scored on what the fold leaves out, by either rule. The margins of a fold are
    computed from the counts of its training part.

    Parameters
    ----------
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
    family : {"auto", "power", "box", "shared_tail", "free"} or MarginFamily, default="auto"
        The margins to search among. "auto" is "power": ``rho_k ∝ n_k^t`` with t from -1/2 to 1.
    lams : array-like, optional
        Values of lambda; by default eight from 1e-6 to 10.
    n_margins : int, default=10
        Values of each of the family's parameters.
    cv : int, "loo", splitter or iterable of (train, test), default=5
        A number is that many stratified, shuffled folds, or as many as the rarest class has
        samples, with a warning. "loo" is approximate leave-one-out: one fit of a cell to all
        samples, and from it a Newton step to the model without each of them; the scores are those
        of ten stratified groups. For smooth losses and up to 1,000 coefficients.
    scoring : str, callable or None, default="accuracy"
        Any of scikit-learn's scorers.
    rule : {"auto", "score", "bayes"}, default="auto"
        "auto" lets the data choose. The hinge has "score" only.
    one_se : bool, default=True
        Prefer the margins nearest to equal ones among those whose score is within a standard
        error (of the paired differences) of the best.
    budget : int, default=4000
        The most fits to folds. If all combinations of a family's parameters are more, they are
        searched one at a time from the theory's margins, in passes.
    n_jobs : int, optional
        Folds at a time, through joblib. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds. None is a fixed seed.
    refit : bool, default=True
        Fit the choice to all samples.
    verbose : int, default=0
        Above zero, joblib tells of its progress.

    Attributes
    ----------
    best_margins_ : ndarray of shape (n_classes,)
        For the counts of all samples.
    best_parameters_, theory_parameters_ : ndarray
        Of the family: the choice, and the theory's.
    best_lam_ : float
    best_rule_ : str
    best_score_ : float
        Mean over the folds of the choice.
    best_index_ : int
        Of the choice in ``cv_results_``.
    cv_results_ : dict of arrays
        As in GridSearchCV; ``pandas.DataFrame(model.cv_results_)`` shows it.
    n_splits_ : int
    best_estimator_ : IMMAXClassifier
        Fitted to all samples.
    classes_, coef_, intercept_, margins_, objective_, gap_, n_iter_
        Its attributes.

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

    _price = "lam"
    _copied = ("coef_", "intercept_", "margins_", "objective_", "gap_", "n_iter_")

    def __init__(
        self,
        loss: str = "logistic",
        *,
        family: str | MarginFamily = "auto",
        lams: ArrayLike | None = None,
        n_margins: int = 10,
        cv: Any = 5,
        scoring: Any = "accuracy",
        rule: str = "auto",
        one_se: bool = True,
        budget: int = 4000,
        n_jobs: int | None = None,
        random_state: Any = None,
        refit: bool = True,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.family = family
        self.lams = lams
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, ("logistic", "hinge", "exponential"))
        check_choice("rule", self.rule, ("auto", "score", "bayes"))
        if self.loss == "hinge" and self.rule == "bayes":
            raise ValueError(
                "rule='bayes' needs probabilities, which the hinge loss does not determine"
            )
        if self.loss == "hinge" and isinstance(self.cv, str):
            raise ValueError(
                "cv='loo' needs a smooth loss, logistic or exponential; the hinge has kinks, where "
                "no Newton step leads from one model to another: take a number of folds"
            )

    def _prices(self) -> Array:
        return grid_of("lams", self.lams, LAMS)[::-1]

    def _strength(self, prices: Array) -> Array:
        return prices

    def _scorer(self) -> Scorer:
        return Scorer(self.scoring, self.loss)

    def _rules(self, scorer: Scorer) -> list[str]:
        if self.rule != "auto":
            return [self.rule]
        # Scorers that look at scores or probabilities have no use for a rule.
        return ["score", "bayes"] if self.loss != "hinge" and scorer.by_labels else ["score"]

    def _cells(
        self, X: Any, sample: Sample, weight: Array | None, scorer: Scorer, rules: list[str]
    ) -> Cells:
        if isinstance(self.cv, str):
            outputs = 1 if len(sample.classes) == 2 else len(sample.classes)
            if outputs * (X.shape[1] + 1) > MOST_PARAMETERS:
                raise ValueError(
                    f"cv='loo' inverts a matrix of {outputs * (X.shape[1] + 1)} rows; beyond "
                    f"{MOST_PARAMETERS} take a number of folds"
                )
            judge = Judge(X, sample.labels, weight, sample.classes, self.loss, rules, scorer)
            return LeaveOneOut(judge, FINE)
        entries = X.nnz if sparse.issparse(X) else X.size
        if entries >= LARGE and scorer.by_labels:
            X = X.astype(np.float32)  # half the bytes take half the time, and do for labels
        tol = ROUGH if scorer.by_labels else FINE
        judge = Judge(X, sample.labels, weight, sample.classes, self.loss, rules, scorer)
        return LinearCells(judge, tol)

    def _machine(self) -> IMMAXClassifier:
        return IMMAXClassifier(
            self.loss, lam=self.best_lam_, margins=self.best_margins_, rule=self.best_rule_
        )

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, shape (n, c)."""
        return self._best().predict_proba(X)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities, shape (n, c)."""
        return self._best().predict_log_proba(X)
