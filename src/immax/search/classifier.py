"""The linear classifier with margins and lambda found by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from joblib import Memory
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import Tags

from immax.arrays import Array, Features
from immax.decisions import Aim
from immax.linear import IMMAXClassifier, feature_norms
from immax.losses.immax_risks import immax_risk
from immax.margins import theory_margins
from immax.paths import lam_sequence
from immax.penalties import Penalty, make_penalty
from immax.penalties.registry import Groups
from immax.search.base import EVIDENCE, MarginSearch
from immax.search.cells import Cells, LinearCells, LinearFits
from immax.search.criteria import Purpose, SearchGoal
from immax.search.folds import CrossValidation, RandomState
from immax.search.leave_one_out import MAX_PARAMETERS, LeaveOneOutCells
from immax.search.margin_family import MarginFamily
from immax.search.penalty_grids import penalty_grid
from immax.search.samples import SearchSamples
from immax.solvers import Problem
from immax.validation import Sample, check_choice, check_flags, check_positive

__all__ = ["IMMAXClassifierCV"]

LAMS = np.logspace(-6, 1, 8)
N_LAMS = 12  # along the path of a penalty that uses few features
LABEL_TOL, PROBABILITY_TOL = 3e-5, 1e-6  # of fits whose labels, or probabilities, are scored
KINKED_TOL = 3e-5  # gaps of hinge machines are certified; smooth fits end within 30 times theirs
LARGE = 500_000  # entries of X, from which on labels are searched for in single precision


class IMMAXClassifierCV(MarginSearch):
    """IMMAXClassifier with margins, lambda and decision rule found by cross-validation.

    Every combination of margins and lambda, a cell, is fitted to the training part of each fold,
    with a warm start from its neighbour. The margins of a fold are computed from the counts of its
    training part. With an aim, a rule is fitted to the probabilities of all held-out samples of a
    cell, and the cell is scored by the aim under that rule. Probabilities are those with the
    lowest log-loss, whatever the aim.

    Parameters
    ----------
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
        The surrogate.
    family : {"auto", "power", "weighted", "box", "shared_tail", "free"} or MarginFamily
        The margins to search among. "power" is ``rho_k ∝ n_k^t`` with t from -1/2 to 1.
        "weighted" is cross-entropy, class weights, margins, and both. "auto", the default, is
        "weighted" for aims other than accuracy and log-loss, and else "power".
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
    scoring : str, callable, list, dict or None, default="accuracy"
        Any of scikit-learn's scorers, or a function of (estimator, X, y), which gets the rows as
        they were given. None is the accuracy. A metric of labels other than accuracy, precision
        and recall means the aim of that metric, about the class of the label 1 where it is about
        one class. Several metrics, by a list of names or a dict, are columns of ``cv_results_``;
        ``refit`` or ``aim`` says by which cells are compared.
    rule : {"auto", "score", "bayes"}, default="auto"
        "auto" finds the rule of the aim; without an aim it compares both rules if the scorer uses
        labels (the hinge has "score" only). A name uses that rule for all cells.
    one_se : bool or "auto", default="auto"
        Prefer the margins nearest to equal ones among those whose score is within a standard
        error (of the paired differences) of the best. "auto" does so unless there is an aim other
        than accuracy and log-loss, where simpler models are preferred only among cells that are
        equally good.
    budget : int, default=4000
        Upper bound on the number of fits to folds. If all combinations of a family's parameters
        need more, one parameter is searched at a time, in passes that start from the theory's
        margins.
    n_jobs : int, default=None
        The number of folds that joblib runs in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds. None is a fixed seed.
    refit : bool or str, default=True
        Whether to fit the choice to all samples; with several metrics, the name of the one by
        which cells are compared.
    verbose : int, default=0
        Above zero, a line is printed when the fits of a fold are done.
    aim : str, Aim or scorer of labels, optional
        What decisions are for: a name of ``immax.decisions.AIMS``, an aim, or a scorer.
    costs : array-like of shape (n_classes,) or (n_classes, n_classes), optional
        The aim of the least expected cost: the cost of an error on each class, or at (k, j) the
        cost of predicting j when k is true.
    pos_label : label, optional
        The class that aims for two classes are about; by default the rarer one.
    evidence : float, default=0.75
        The weight of observed labels in the fit of a rule, as in ``immax.decisions.fit_rule``.
    form : {"auto", "sum", "max"}, default="auto"
        As in IMMAXClassifier. Scores of the max form of three or more classes are calibrated.
    fit_intercept : bool, default=True
        Whether to fit biases, which are not penalised.
    tol, max_iter : float, default=1e-6, and int, default=1000
        For the final fit, as in IMMAXClassifier; ``max_iter`` also bounds the fits of the search.
    use_radii : bool, default=False
        Search around the theory's margins for the radii of the classes,
        ``rho_k ∝ n_k^(1/3) r_k^(2/3)``: every family takes ``n_k r_k^2`` for the class counts. The
        radii are the largest feature norms of all samples of a class.
    memory : str or object with the interface of joblib.Memory, optional
        Where to cache the held-out scores of all fits; by default they are not cached. Another
        search over the same samples, folds and margins, for another aim, then reuses them.

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
    best_weights_ : ndarray of shape (n_classes,)
        The chosen class weights.
    best_rule_ : Rule, "score" or "bayes"
        The decision rule: a ``Rule``, which prints in words, if there is an aim.
    best_calibration_, probability_calibration_ : ScoreCalibration or None
        Maps from scores to probabilities, for the hinge and the max form.
    best_score_ : float
        The mean score of the choice over the folds; for an aim with a constraint, such as a
        recall at a precision, its value for the held-out samples of all folds together.
    best_index_ : int
        The row of the choice in ``cv_results_``.
    cv_results_ : dict of arrays
        As in GridSearchCV; ``pandas.DataFrame(model.cv_results_)`` shows it.
    n_splits_ : int
        The number of folds, or of groups with cv="loo".
    best_estimator_ : IMMAXClassifier
        The choice, fitted to all samples. Decisions are made with it.
    probability_estimator_ : IMMAXClassifier
        The classifier of ``predict_proba``: ``best_estimator_`` itself, or another fit of a lower
        log-loss in cross-validation. ``probability_index_`` is its row in ``cv_results_``.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_, intercept_, margins_, weights_, objective_, gap_, n_iter_, n_features_used_
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
        "weights_",
        "objective_",
        "gap_",
        "n_iter_",
        "n_features_used_",
    )
    best_estimator_: IMMAXClassifier
    best_lam_: float

    form: str = "auto"
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 1000
    _foreign = MappingProxyType(
        {
            **MarginSearch._foreign,
            "C": "lams= are the penalties to try, with C = 1 / (2 lam n) for n samples",
            "Cs": "lams= are the penalties to try, with C = 1 / (2 lam n) for n samples",
            "lam": "lams= are the penalties to try; IMMAXClassifier takes one",
        }
    )

    def __init__(
        self,
        loss: str = "logistic",
        *,
        family: str | MarginFamily = "auto",
        lams: ArrayLike | None = None,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: Groups | None = None,
        n_margins: int = 10,
        cv: CrossValidation = 5,
        scoring: Any = "accuracy",
        rule: str = "auto",
        one_se: bool | str = "auto",
        budget: int = 4000,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        refit: bool | str = True,
        verbose: int = 0,
        aim: str | Aim | Callable[..., float] | None = None,
        costs: ArrayLike | None = None,
        pos_label: object = None,
        evidence: float = EVIDENCE,
        form: str = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        use_radii: bool = False,
        memory: str | Memory | None = None,
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
        self.aim = aim
        self.costs = costs
        self.pos_label = pos_label
        self.evidence = evidence
        self.form = form
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.use_radii = use_radii
        self.memory = memory

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_flags(fit_intercept=self.fit_intercept)
        check_choice("loss", self.loss, ("logistic", "hinge", "exponential"))
        check_choice("rule", self.rule, ("auto", "score", "bayes"))
        check_choice("form", self.form, ("auto", "sum", "max"))
        omega = make_penalty(self.penalty, self.l1_ratio, self.groups)
        if isinstance(self.cv, str) and not omega.smooth:
            raise ValueError(
                f"cv='loo' needs penalty='l2'; penalty={self.penalty!r} has kinks, where a Newton "
                "step does not lead from one model to another: use a number of folds"
            )
        if self.loss == "hinge" and self.form == "sum":
            raise ValueError("form='sum' exists for the logistic and exponential losses only")
        if self.loss == "hinge" and self.rule == "bayes":
            raise ValueError(
                "rule='bayes' needs probabilities, which the hinge loss does not determine; "
                "aim='accuracy' calibrates its scores"
            )
        check_positive("tol", self.tol)
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a positive whole number; got {self.max_iter!r}")
        if self.loss == "hinge" and isinstance(self.cv, str):
            raise ValueError(
                "cv='loo' needs a smooth loss, logistic or exponential; the hinge has kinks, where "
                "a Newton step does not lead from one model to another: use a number of folds"
            )

    def _fit_files(self, path: Any, target: Any, sample_weight: Any) -> Self:
        from immax.distributed.parted_search import PartedIMMAXCV
        from immax.tabular.table_fits import fit_table

        fit_table(self, PartedIMMAXCV, path, target, sample_weight)
        return self

    def _norms(self, X: Features, weight: Array) -> Array:
        return feature_norms(X[np.flatnonzero(weight)])

    def _penalties(self) -> Array:
        return penalty_grid("lams", self.lams, LAMS)[::-1]

    def _omega(self, n_features: int) -> Penalty:
        names = getattr(self, "feature_names_in_", None)
        return make_penalty(self.penalty, self.l1_ratio, self.groups, n_features, names)

    def _penalties_for(self, X: Features, sample: Sample) -> Array:
        omega = self._omega(X.shape[1])
        if self.lams is not None or omega.smooth:
            return self._penalties()
        # The hinge is steeper than the logistic loss at zero, by about a factor of two.
        smooth, factor = ("logistic", 2.0) if self.loss == "hinge" else (self.loss, 1.0)
        share = (sample.weight / sample.weight.sum()).astype(X.dtype)
        risk = immax_risk(smooth, "auto", sample.labels, theory_margins(sample.counts), share)
        problem = Problem(X, risk, 1.0, bool(self.fit_intercept), omega)
        return factor * lam_sequence(problem, N_LAMS)

    @property
    def preparation_(self) -> Any:
        """The preprocessing of ``best_estimator_``, where the search was fitted to a path."""
        return self.best_estimator_.preparation_

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

    def _has_link(self, n_classes: int) -> bool:
        return self.loss != "hinge" and (self.form != "max" or n_classes == 2)

    def _goal(self) -> SearchGoal:
        return SearchGoal(
            self.aim,
            self.costs,
            self.scoring,
            self.refit,
            self.rule,
            self.pos_label,
            self.evidence,
        )

    def _cells(self, samples: SearchSamples, purpose: Purpose) -> Cells:
        fits = LinearFits(
            self.loss,
            self.form,
            bool(self.fit_intercept),
            KINKED_TOL if self.loss == "hinge" else PROBABILITY_TOL,
            int(self.max_iter),
            self._omega(samples.X.shape[1]),
        )
        X = samples.X
        if isinstance(self.cv, str):
            outputs = 1 if len(samples.classes) == 2 else len(samples.classes)
            if outputs * (X.shape[1] + 1) > MAX_PARAMETERS:
                raise ValueError(
                    f"cv='loo' inverts a matrix of {outputs * (X.shape[1] + 1)} rows; beyond "
                    f"{MAX_PARAMETERS} use a number of folds"
                )
            return LeaveOneOutCells(samples, fits)
        if not purpose.uses_labels:
            return LinearCells(samples, fits)
        entries = X.nnz if sparse.issparse(X) else X.size
        if entries >= LARGE:
            # Half the bytes take half the time, and labels need no more precision.
            samples = replace(samples, X=X.astype(np.float32))
        return LinearCells(samples, replace(fits, tol=LABEL_TOL))

    def _final_classifier(
        self, penalty: float, margins: Array, weights: Array, rule: str
    ) -> IMMAXClassifier:
        return IMMAXClassifier(
            self.loss,
            form=self.form,
            lam=penalty,
            penalty=self.penalty,
            l1_ratio=self.l1_ratio,
            groups=self.groups,
            margins=margins,
            weights=weights,
            rule=rule,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
        )
