"""What searches share: folds, cells, a table of them, a choice, a model of all samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array
from immax.search.cells import Cells, Results
from immax.search.families import MarginFamily, full_grid, resolve_family
from immax.search.folds import make_folds
from immax.search.scoring import Scorer
from immax.search.selection import choose_cell, near_ties, spread
from immax.validation import Sample, training_sample

__all__ = ["MarginSearch", "grid_of"]


class MarginSearch(ClassifierMixin, BaseEstimator):
    """Searches margins and the price of the weights; subclasses say for which machine."""

    _price: ClassVar[str]  # the name of the second axis: lam or C
    _copied: ClassVar[tuple[str, ...]]  # attributes of the machine to have as well
    family: Any
    n_margins: int
    cv: Any
    scoring: Any
    one_se: bool
    budget: int
    n_jobs: int | None
    random_state: Any
    refit: bool
    verbose: int

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse what makes no sense, before the data are looked at."""

    @abstractmethod
    def _prices(self) -> Array:
        """Values of the second axis, the strongest penalty first."""

    @abstractmethod
    def _strength(self, prices: Array) -> Array:
        """How strong a penalty they are."""

    @abstractmethod
    def _scorer(self) -> Scorer:
        """By which cells are judged."""

    @abstractmethod
    def _rules(self, scorer: Scorer) -> list[str]:
        """By which labels are decided."""

    @abstractmethod
    def _cells(
        self, X: Any, sample: Sample, weight: Array | None, scorer: Scorer, rules: list[str]
    ) -> Cells:
        """What fits and scores all cells of a fold."""

    @abstractmethod
    def _machine(self) -> Any:
        """The choice, to be fitted to all samples."""

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        return validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])

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
        self._check_parameters()
        prices = self._prices()
        if int(self.n_margins) != self.n_margins or self.n_margins < 1:
            raise ValueError(f"n_margins must be a positive whole number; got {self.n_margins!r}")
        family, scorer = resolve_family(self.family), self._scorer()
        rules = self._rules(scorer)
        given = X
        X, y = self._validate(X, y)
        sample = training_sample(X, y, sample_weight)
        folds = make_folds(self.cv, X, y, sample.weight, self.random_state)
        weight = None if sample_weight is None else sample.weight
        cells = self._cells(X, sample, weight, scorer, rules)

        def evaluate(points: Sequence[Array]) -> Results:
            parts = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
                delayed(cells.run)(fold, family, points, prices) for fold in folds
            )
            return Results(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))

        most = int(self.budget) // (len(prices) * len(folds))
        points, results = _explore(family, sample.counts, int(self.n_margins), evaluate, most)
        self._choose(points, results, prices, rules, family, sample.counts)
        self.classes_ = sample.classes
        if self.refit:
            self.best_estimator_ = self._machine().fit(given, y, sample_weight)
            for name in self._copied:
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _choose(
        self,
        points: list[Array],
        results: Results,
        prices: Array,
        rules: list[str],
        family: MarginFamily,
        counts: Array,
    ) -> None:
        """Tabulate all cells and pick one."""
        n_folds = results.scores.shape[-1]
        margins = [family.margins(point, counts) for point in points]
        cells = [
            (i, j, k)
            for i in range(len(points))
            for j in range(len(prices))
            for k in range(len(rules))
        ]
        where = np.array(cells)
        scores = results.scores.reshape(len(cells), n_folds)
        spreads = np.array([spread(rho) for rho in margins])[where[:, 0]]
        strength = self._strength(prices)[where[:, 1]]
        losses = results.losses.mean(axis=-1)[where[:, 0], where[:, 1]]
        index = choose_cell(scores, losses, spreads, strength, where[:, 2], self.one_se)
        means = scores.mean(axis=1)
        table: dict[str, Any] = {
            "params": [
                {"parameters": points[i].tolist(), self._price: float(prices[j]), "rule": rules[k]}
                for i, j, k in cells
            ],
            "param_parameters": [tuple(points[i].tolist()) for i, _, _ in cells],
            f"param_{self._price}": prices[where[:, 1]],
            "param_rule": np.array(rules)[where[:, 2]],
            "margins": [margins[i] for i, _, _ in cells],
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": (means[None, :] > means[:, None] + 1e-12).sum(axis=1) + 1,
            "near_best": near_ties(scores, int(means.argmax())),
            "mean_test_log_loss": losses,
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
        self.theory_parameters_ = family.centre(counts)
        self.best_margins_ = margins[i]
        setattr(self, f"best_{self._price}_", float(prices[j]))
        self.best_rule_ = rules[k]

    def _best(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("refit=False: there is a choice, but no model of all samples")
        return self.best_estimator_

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores of all cells, the theory's margins and the choice; returns the axes."""
        from immax.plots.search import plot_search

        return plot_search(self, ax)

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        return self._best().decision_function(X)

    def predict(self, X: Any) -> Array:
        """Labels, by the rule that was chosen."""
        return self._best().predict(X)


def grid_of(name: str, given: Any, default: Array) -> Array:
    """Positive values without repetitions, ascending; the default if none are given."""
    values = np.ravel(np.asarray(default if given is None else given, dtype=np.float64))
    if not values.size:
        raise ValueError(f"{name} is empty: there is nothing to search")
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"{name} must be positive, finite numbers; got {values.tolist()}")
    return np.unique(values)


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
