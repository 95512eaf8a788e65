"""The linear classifier with margins and lambda found by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.linear import IMMAXClassifier
from immax.search.cells import Results, run_fold
from immax.search.families import MarginFamily, full_grid, resolve_family
from immax.search.folds import make_folds
from immax.search.scoring import Scorer
from immax.search.selection import choose_cell, near_ties, spread
from immax.validation import check_choice, training_sample

__all__ = ["IMMAXClassifierCV"]

Array = NDArray[Any]

LAMS = np.logspace(-6, 1, 8)
ROUGH, FINE = 3e-5, 1e-6  # of an objective, for labels and for probabilities
LARGE = 500_000  # entries of X that are searched in single precision
COPIED = ("coef_", "intercept_", "margins_", "objective_", "gap_", "n_iter_")


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


class IMMAXClassifierCV(ClassifierMixin, BaseEstimator):
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
    cv : int, splitter or iterable of (train, test), default=5
        A number is that many stratified, shuffled folds, or as many as the rarest class has
        samples, with a warning.
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
    best_parameters_ : ndarray
        Of the family.
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search, and fit the choice to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Not negative; weighs the losses and, where the scorer can, the scores.

        Returns
        -------
        self
        """
        check_choice("loss", self.loss, ("logistic", "hinge", "exponential"))
        rules = self._rules()
        lams = self._lams()
        if int(self.n_margins) != self.n_margins or self.n_margins < 1:
            raise ValueError(f"n_margins must be a positive whole number; got {self.n_margins!r}")
        family, scorer = resolve_family(self.family), Scorer(self.scoring, self.loss)
        given = X
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        sample = training_sample(X, y, sample_weight)
        folds = make_folds(self.cv, X, y, sample.weight, self.random_state)
        weight = None if sample_weight is None else sample.weight
        entries = X.nnz if sparse.issparse(X) else X.size
        if entries >= LARGE and scorer.by_labels:
            X = X.astype(np.float32)  # half the bytes take half the time, and do for labels
        tol = ROUGH if scorer.by_labels else FINE
        if not scorer.by_labels:
            rules = rules[:1]  # it looks at scores or probabilities, which have no rule

        def evaluate(points: Sequence[Array]) -> Results:
            parts = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
                delayed(run_fold)(
                    X,
                    sample.labels,
                    weight,
                    sample.classes,
                    fold,
                    family,
                    points,
                    lams,
                    self.loss,
                    rules,
                    scorer,
                    tol,
                )
                for fold in folds
            )
            return Results(*(np.stack(part, axis=-1) for part in zip(*parts, strict=True)))

        per_point = len(lams) * len(folds)
        points, results = _explore(
            family, sample.counts, int(self.n_margins), evaluate, int(self.budget) // per_point
        )
        self._choose(points, results, lams, rules, family, sample.counts, len(folds))
        self.classes_ = sample.classes
        if self.refit:
            self._refit(given, y, sample_weight)
        return self

    def _rules(self) -> list[str]:
        check_choice("rule", self.rule, ("auto", "score", "bayes"))
        if self.loss == "hinge":
            if self.rule == "bayes":
                raise ValueError(
                    "rule='bayes' needs probabilities, which the hinge loss does not determine"
                )
            return ["score"]
        return ["score", "bayes"] if self.rule == "auto" else [self.rule]

    def _lams(self) -> Array:
        lams = np.ravel(np.asarray(LAMS if self.lams is None else self.lams, dtype=np.float64))
        if not lams.size:
            raise ValueError("lams is empty: there is nothing to search")
        if not (np.isfinite(lams) & (lams > 0)).all():
            raise ValueError(f"lams must be positive, finite numbers; got {lams.tolist()}")
        return np.unique(lams)[::-1]

    def _choose(
        self,
        points: list[Array],
        results: Results,
        lams: Array,
        rules: list[str],
        family: MarginFamily,
        counts: Array,
        n_folds: int,
    ) -> None:
        """Tabulate all cells and pick one."""
        margins = [family.margins(point, counts) for point in points]
        cells = [
            (i, j, k)
            for i in range(len(points))
            for j in range(len(lams))
            for k in range(len(rules))
        ]
        where = np.array(cells)
        scores = results.scores.reshape(len(cells), n_folds)
        spreads = np.array([spread(rho) for rho in margins])[where[:, 0]]
        index = choose_cell(scores, spreads, lams[where[:, 1]], where[:, 2], self.one_se)
        means = scores.mean(axis=1)
        table: dict[str, Any] = {
            "params": [
                {"parameters": points[i].tolist(), "lam": float(lams[j]), "rule": rules[k]}
                for i, j, k in cells
            ],
            "param_parameters": [tuple(points[i].tolist()) for i, _, _ in cells],
            "param_lam": lams[where[:, 1]],
            "param_rule": np.array(rules)[where[:, 2]],
            "margins": [margins[i] for i, _, _ in cells],
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": (means[None, :] > means[:, None] + 1e-12).sum(axis=1) + 1,
            "near_best": near_ties(scores, int(means.argmax())),
        }
        for name, times in (("fit", results.fit_times), ("score", results.score_times)):
            each = times[where[:, 0], where[:, 1]]
            table |= {f"mean_{name}_time": each.mean(axis=1), f"std_{name}_time": each.std(axis=1)}
        for fold in range(n_folds):
            table[f"split{fold}_test_score"] = scores[:, fold]
        i, j, k = cells[index]
        self.cv_results_ = table
        self.n_splits_ = n_folds
        self.best_index_ = index
        self.best_score_ = float(means[index])
        self.best_parameters_ = points[i]
        self.best_margins_ = margins[i]
        self.best_lam_ = float(lams[j])
        self.best_rule_ = rules[k]

    def _refit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        best = IMMAXClassifier(
            self.loss, lam=self.best_lam_, margins=self.best_margins_, rule=self.best_rule_
        )
        self.best_estimator_ = best.fit(X, y, sample_weight)
        for name in COPIED:
            setattr(self, name, getattr(best, name))

    def _best(self) -> IMMAXClassifier:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("refit=False: there is a choice, but no model of all samples")
        return self.best_estimator_

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        return self._best().decision_function(X)

    def predict(self, X: Any) -> Array:
        """Labels, by the rule that was chosen."""
        return self._best().predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, shape (n, c)."""
        return self._best().predict_proba(X)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities, shape (n, c)."""
        return self._best().predict_log_proba(X)


def _explore(
    family: MarginFamily, counts: Array, n: int, evaluate: Any, most: int
) -> tuple[list[Array], Results]:
    """All combinations of parameters, or passes over one at a time if these are too many."""
    axes = family.axes(counts, n)
    if np.prod([float(axis.size) for axis in axes]) <= max(most, 1):
        points = _distinct(full_grid(family, counts, n), family, counts)
        return points, evaluate(points)
    points = _distinct([family.centre(counts), family.plain(counts)], family, counts)
    results = evaluate(points)
    current, improved = points[0], True
    while improved and len(points) < most:
        improved = False
        for coordinate, axis in enumerate(axes):
            line = np.repeat(current[None, :], axis.size, axis=0)
            line[:, coordinate] = axis
            new = _distinct([*points, *line], family, counts)[len(points) :]
            new = new[: max(most - len(points), 0)]
            if not new:
                continue
            more = evaluate(new)
            points += new
            results = Results(*(np.concatenate(pair) for pair in zip(results, more, strict=True)))
            best = results.scores.mean(axis=-1).max(axis=(1, 2))
            if best.max() > best[_index(points, current)] + 1e-12:
                current, improved = points[int(best.argmax())], True
    return points, results


def _index(points: list[Array], wanted: Array) -> int:
    return next(i for i, point in enumerate(points) if point is wanted or (point == wanted).all())


def _distinct(points: list[Array], family: MarginFamily, counts: Array) -> list[Array]:
    """Those that give margins which none before them gave."""
    seen: set[tuple[float, ...]] = set()
    kept = []
    for point in points:
        key = tuple(np.round(family.margins(point, counts), 10).tolist())
        if key not in seen:
            seen.add(key)
            kept.append(point)
    return kept
