"""The common part of searches: folds, cells, a table of them, a choice, and the final fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array, Features
from immax.search.cells import Cells
from immax.search.exploration import explore_family
from immax.search.families import MarginFamily, resolve_family
from immax.search.folds import CrossValidation, RandomState, make_folds
from immax.search.results import CellResults
from immax.search.scoring import Scorer, Scoring, resolve_scoring
from immax.search.selection import choose_cell, near_ties, spread
from immax.validation import Sample, training_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MarginClassifier", "MarginSearch", "penalty_grid"]


class MarginClassifier(Protocol):
    """A classifier that a search fits to all samples in the end."""

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def decision_function(self, X: Features) -> Array: ...
    def predict(self, X: Features) -> Array: ...


class MarginSearch(ClassifierMixin, BaseEstimator):
    """Search for margins and for the strength of the penalty by cross-validation.

    Subclasses say which classifier is fitted.
    """

    _penalty_name: ClassVar[str]  # the parameter of the penalty's strength: lam or C
    _copied: ClassVar[tuple[str, ...]]  # attributes of the final fit that the search has too
    family: str | MarginFamily
    n_margins: int
    cv: CrossValidation
    scoring: Scoring
    one_se: bool
    budget: int
    n_jobs: int | None
    random_state: RandomState
    refit: bool
    verbose: int
    best_estimator_: MarginClassifier

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that make no sense, before the data are used."""

    @abstractmethod
    def _penalties(self) -> Array:
        """Return the values of lam or C, the strongest penalty first."""

    def _penalties_for(self, X: Features, sample: Sample) -> Array:  # noqa: ARG002
        """Return the values of lam or C, which may depend on the data."""
        return self._penalties()

    @abstractmethod
    def _penalty_strengths(self, penalties: Array) -> Array:
        """Return numbers that are larger for stronger penalties."""

    @property
    @abstractmethod
    def _loss(self) -> str:
        """The surrogate; the hinge has no probabilities."""

    @abstractmethod
    def _rules(self, scorer: Scorer) -> list[str]:
        """Return the decision rules to be compared."""

    @abstractmethod
    def _cells(
        self, X: Features, sample: Sample, weight: Array | None, scorer: Scorer, rules: list[str]
    ) -> Cells:
        """Return the object that fits and scores all cells of a fold."""

    @abstractmethod
    def _final_classifier(self) -> MarginClassifier:
        """Return the chosen classifier, to be fitted to all samples."""

    def _validate(self, X: Features, y: ArrayLike) -> tuple[Features, Array]:
        return validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search, and fit the choice to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Training features.
        y : array-like of shape (n,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n,), optional
            Weights of the losses and, where the scorer takes them, of the scores; not negative.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        ValueError
            If a parameter makes no sense, or if a class is missing from a fold.
        """
        self._check_parameters()
        self._penalties()  # refuses values that make no sense before anything is computed
        if int(self.n_margins) != self.n_margins or self.n_margins < 1:
            raise ValueError(f"n_margins must be a positive whole number; got {self.n_margins!r}")
        family = resolve_family(self.family)
        resolve_scoring(self.scoring)
        given = X
        X, y = self._validate(X, y)
        sample = training_sample(X, y, sample_weight)
        folds = make_folds(self.cv, X, y, sample.weight, self.random_state)
        weight = None if sample_weight is None else sample.weight
        test = folds[0].tests[0]
        own_weight = None if weight is None else weight[test]
        scorer = Scorer.probe(
            self.scoring, self._loss, X[test], y[test], own_weight, sample.classes
        )
        rules = self._rules(scorer)
        penalties = self._penalties_for(X, sample)
        cells = self._cells(X, sample, weight, scorer, rules)

        def evaluate(points: Sequence[Array]) -> CellResults:
            parts = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
                delayed(cells.run)(fold, family, points, penalties) for fold in folds
            )
            return CellResults.join(parts, axis=-1)

        max_points = int(self.budget) // (len(penalties) * len(folds))
        points, results = explore_family(
            family, sample.counts, int(self.n_margins), evaluate, max_points
        )
        self._choose(points, results, penalties, rules, family, sample.counts)
        self.classes_ = sample.classes
        if self.refit:
            self.best_estimator_ = self._final_classifier().fit(given, y, sample_weight)
            for name in self._copied:
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _choose(
        self,
        points: list[Array],
        results: CellResults,
        penalties: Array,
        rules: list[str],
        family: MarginFamily,
        counts: Array,
    ) -> None:
        """Tabulate all cells and choose one of them."""
        margins = [family.margins(point, counts) for point in points]
        shape = len(points), len(penalties), len(rules)
        cells = list(np.ndindex(shape))
        point, penalty, rule = np.array(cells).T
        scores = results.scores.reshape(len(cells), -1)
        spreads = np.array([spread(rho) for rho in margins])[point]
        strengths = self._penalty_strengths(penalties)[penalty]
        losses = results.losses.mean(axis=-1)[point, penalty]
        index = choose_cell(scores, losses, spreads, strengths, rule, self.one_se)
        means = scores.mean(axis=1)
        name = self._penalty_name
        table: dict[str, Any] = {
            "params": [
                {"parameters": points[i].tolist(), name: float(penalties[j]), "rule": rules[k]}
                for i, j, k in cells
            ],
            "param_parameters": [tuple(points[i].tolist()) for i in point],
            f"param_{name}": penalties[penalty],
            "param_rule": np.array(rules)[rule],
            "margins": [margins[i] for i in point],
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": (means[None, :] > means[:, None] + 1e-12).sum(axis=1) + 1,
            "near_best": near_ties(scores, int(means.argmax())),
            "mean_test_log_loss": losses,
        }
        for kind, times in (("fit", results.fit_times), ("score", results.score_times)):
            each = times[point, penalty]
            table |= {f"mean_{kind}_time": each.mean(axis=1), f"std_{kind}_time": each.std(axis=1)}
        for fold, column in enumerate(scores.T):
            table[f"split{fold}_test_score"] = column
        i, j, k = cells[index]
        self.cv_results_ = table
        self.n_splits_ = scores.shape[1]
        self.best_index_ = index
        self.best_score_ = float(means[index])
        self.best_parameters_ = points[i]
        self.theory_parameters_ = family.centre(counts)
        self.best_margins_ = margins[i]
        setattr(self, f"best_{name}_", float(penalties[j]))
        self.best_rule_ = rules[k]

    def _check_refitted(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("refit=False: margins were chosen, but no model was fitted to all")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the scores of all cells, the theory's margins and the choice.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        matplotlib axes
            With the drawing.
        """
        from immax.plots.search import plot_search

        return plot_search(self, ax)

    def decision_function(self, X: Features) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes, the score of ``classes_[1]``.
        """
        self._check_refitted()
        return self.best_estimator_.decision_function(X)

    def predict(self, X: Features) -> Array:
        """Predict labels by the chosen rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Labels from ``classes_``.
        """
        self._check_refitted()
        return self.best_estimator_.predict(X)


def penalty_grid(name: str, values: ArrayLike | None, default: Array) -> Array:
    """Return the values of a penalty parameter, ascending and without repetitions.

    Parameters
    ----------
    name : str
        The name of the parameter, for error messages.
    values : array-like or None
        Values that were given.
    default : ndarray
        The values if none were given.

    Returns
    -------
    ndarray
        Positive numbers.

    Raises
    ------
    ValueError
        If there are no values, or if one is not positive and finite.
    """
    grid = np.ravel(np.asarray(default if values is None else values, dtype=np.float64))
    if not grid.size:
        raise ValueError(f"{name} is empty: there is nothing to search")
    if not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"{name} must be positive, finite numbers; got {grid.tolist()}")
    return np.unique(grid)
