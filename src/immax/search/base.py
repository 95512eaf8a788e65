"""The common part of searches: folds, cells, a table of them, a choice, and the final fits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from joblib import Memory, Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_memory, validate_data

from immax.arrays import Array, Features
from immax.calibration import ScoreCalibration
from immax.decisions import Accuracy, Aim, Rule
from immax.documentation import DocumentationLink
from immax.foreign_parameters import RefusesForeignParameters
from immax.margins import class_radii
from immax.search.cell_scores import AimCriterion, Criterion
from immax.search.cells import Cells
from immax.search.counted_family import CountedFamily
from immax.search.criteria import Purpose, Wishes, resolve_aim_of, resolve_purpose
from immax.search.evaluation import CellEvaluator
from immax.search.exploration import explore_family
from immax.search.families import MarginFamily, resolve_family
from immax.search.folds import CrossValidation, RandomState, make_folds
from immax.search.held_out import HeldOutCells
from immax.search.progress import run_fold
from immax.search.results import CellResults
from immax.search.samples import SearchSamples
from immax.search.table import SearchTable
from immax.search.weighted_family import WeightedFamily, family_weights
from immax.validation import Sample, training_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MarginClassifier", "MarginSearch", "penalty_grid"]

EVIDENCE = 0.75  # of labels in the fit of a rule, as in DecisionClassifierCV
MOST_ENTRIES = 2**26  # scores of held-out samples that are kept at a time


class MarginClassifier(Protocol):
    """A classifier that a search fits to all samples in the end."""

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def decision_function(self, X: Features) -> Array: ...
    def predict(self, X: Features) -> Array: ...


def _offers_proba(search: MarginSearch) -> bool:
    if search._loss == "hinge" and not search._calibrates():
        raise AttributeError(
            "the hinge loss does not determine probabilities, so predict_proba does not exist; "
            "with an aim (aim='accuracy', say) they are calibrated on held-out scores"
        )
    return True


class MarginSearch(DocumentationLink, RefusesForeignParameters, ClassifierMixin, BaseEstimator):
    """Search for margins and for the strength of the penalty by cross-validation.

    Subclasses say which classifier is fitted.
    """

    _penalty_name: ClassVar[str]  # the parameter of the penalty's strength: lam or C
    _copied: ClassVar[tuple[str, ...]]  # attributes of the final fit that the search has too
    _foreign: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "class_weight": "say what decisions are for, as in aim='balanced_accuracy' or "
            "costs=[1, 10]; family='weighted' searches class weights beside margins",
            "margins": "they are searched for; family= says among which",
            "weights": "family='weighted' searches class weights beside margins",
        }
    )
    # The defaults are for models that earlier versions saved.
    aim: str | Aim | Callable[..., float] | None = None
    costs: ArrayLike | None = None
    pos_label: object = None
    evidence: float = EVIDENCE
    best_calibration_: ScoreCalibration | None = None
    probability_calibration_: ScoreCalibration | None = None
    family: str | MarginFamily
    n_margins: int
    cv: CrossValidation
    scoring: Any
    one_se: bool | str
    budget: int
    n_jobs: int | None
    random_state: RandomState
    use_radii: bool = False
    memory: str | Memory | None = None
    refit: bool | str
    verbose: int
    best_rule_: str | Rule
    best_estimator_: MarginClassifier
    probability_estimator_: MarginClassifier

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
        """The surrogate."""

    @abstractmethod
    def _has_link(self, n_classes: int) -> bool:
        """Return whether the loss determines probabilities."""

    @abstractmethod
    def _wishes(self) -> Wishes:
        """Return the parameters that say what the search is for."""

    @abstractmethod
    def _cells(self, samples: SearchSamples, purpose: Purpose) -> Cells:
        """Return the object that fits all cells of a fold."""

    @abstractmethod
    def _final_classifier(
        self, penalty: float, margins: Array, weights: Array, rule: str
    ) -> MarginClassifier:
        """Return a classifier to be fitted to all samples."""

    @abstractmethod
    def _norms(self, X: Features, weight: Array) -> Array:
        """Return the norms of the features of the samples that have weight."""

    def _validate(self, X: Features, y: ArrayLike) -> tuple[Features, Array]:
        return validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _check_common(self) -> None:
        if int(self.n_margins) != self.n_margins or self.n_margins < 1:
            raise ValueError(f"n_margins must be a positive whole number; got {self.n_margins!r}")
        if self.one_se not in (True, False, "auto"):
            raise ValueError(f"one_se must be True, False or 'auto'; got {self.one_se!r}")
        if not 0 <= self.evidence <= 1:
            raise ValueError(f"evidence must be from 0 to 1; got {self.evidence!r}")
        resolve_aim_of(self._wishes())

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Search, and fit the choice to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Training features.
        y : array-like of shape (n,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n,), optional
            Weights of the losses and, where the scorer takes them, of the scores; not negative.
        groups : array-like of shape (n,), optional
            Groups of samples, for splitters such as GroupKFold.

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
        self._check_common()
        self._penalties()  # refuses values that make no sense before anything is computed
        given = X
        X, y = self._validate(X, y)
        sample = training_sample(X, y, sample_weight)
        folds = make_folds(self.cv, X, y, sample.weight, self.random_state, groups)
        weight = None if sample_weight is None else sample.weight
        test = folds[0].tests[0]
        has_link = self._has_link(len(sample.classes))
        shown = given if hasattr(given, "columns") else X  # what scorers see
        purpose = resolve_purpose(
            self._wishes(),
            _safe_indexing(shown, test),
            y[test],
            None if weight is None else weight[test],
            sample.classes,
            has_link,
        )
        penalties = self._penalties_for(X, sample)
        family = self._family(purpose.criterion)
        if self.use_radii:
            rows = np.flatnonzero(sample.weight)
            norms = self._norms(X, sample.weight)
            radii = class_radii(norms, sample.labels[rows], len(sample.classes))
            family = CountedFamily(family, radii=tuple(radii.tolist()))
        samples = SearchSamples(X, sample.labels, weight, sample.classes)
        cells = self._cells(samples, purpose)
        evaluator = CellEvaluator(
            samples, shown, self._loss, has_link, purpose.criterion, purpose.others
        )
        per_point = len(penalties) * sum(len(rows) for fold in folds for rows in fold.tests)
        at_once = max(1, MOST_ENTRIES // (per_point * len(sample.classes)))
        kept = list[HeldOutCells]()
        run = check_memory(self.memory).cache(run_fold, ignore=["label"])

        evaluated = 0

        def evaluate(points: Sequence[Array]) -> CellResults:
            nonlocal evaluated
            parts = []
            for begin in range(0, len(points), at_once):
                some = points[begin : begin + at_once]
                labels = self._fold_labels(evaluated, len(some), len(folds))
                evaluated += len(some)
                scored = Parallel(n_jobs=self.n_jobs)(
                    delayed(run)(cells, fold, family, some, penalties, label)
                    for fold, label in zip(folds, labels, strict=True)
                )
                kept[:] = [HeldOutCells.pool(scored)]
                parts.append(evaluator.evaluate(kept[0]))
            return CellResults.join(parts)

        max_points = int(self.budget) // (len(penalties) * len(folds))
        points, results = explore_family(
            family, sample.counts, int(self.n_margins), evaluate, max_points
        )
        table = SearchTable(
            points,
            [family.margins(point, sample.counts) for point in points],
            [family_weights(family, point, sample.counts) for point in points],
            penalties,
            self._penalty_strengths(penalties),
            results,
            self._penalty_name,
        )
        self.classes_ = sample.classes
        self.theory_parameters_ = family.centre(sample.counts)
        self._choose(table, purpose)
        if len(kept[0].terms) == len(points):
            self._refine_rule(table, evaluator, kept[0])
        if self.refit:
            self._fit_choice(table, given, y, sample_weight)
        return self

    def _fold_labels(self, evaluated: int, count: int, n_folds: int) -> list[str | None]:
        """Return what the lines of progress begin with, one for each fold."""
        if not self.verbose:
            return [None] * n_folds
        margins = f"margins {evaluated + 1} to {evaluated + count}"
        return [f"{margins}, fold {k} of {n_folds}" for k in range(1, n_folds + 1)]

    def _family(self, criterion: Criterion) -> MarginFamily:
        """Return the margins to search among, with class weights where the aim calls for them."""
        plain = not isinstance(criterion, AimCriterion) or isinstance(criterion.aim, Accuracy)
        if isinstance(self.family, str) and self.family == "auto" and not plain:
            return WeightedFamily()
        return resolve_family(self.family)

    def _choose(self, table: SearchTable, purpose: Purpose) -> None:
        """Tabulate all cells and choose one for decisions and one for probabilities."""
        for_decisions = isinstance(purpose.criterion, AimCriterion) and not isinstance(
            purpose.criterion.aim, Accuracy
        )
        one_se = not for_decisions if self.one_se == "auto" else bool(self.one_se)
        index = table.choose(one_se)
        i, j, k = table.cells[index]
        self.cv_results_ = table.columns()
        self.n_splits_ = table.results.scores.shape[-1]
        self.best_index_ = index
        self.best_score_ = float(table.results.totals[i, j, k])
        self.best_parameters_ = table.points[i]
        self.best_margins_ = table.margins[i]
        self.best_weights_ = table.weights[i]
        setattr(self, f"best_{self._penalty_name}_", float(table.penalties[j]))
        self.best_rule_ = table.results.rules[i, j, k]
        self.best_calibration_ = table.results.calibrations[i, j]
        self.probability_index_ = table.choose_probabilities(index)

    def _refine_rule(
        self, table: SearchTable, evaluator: CellEvaluator, cells: HeldOutCells
    ) -> None:
        """Fit the rule of the choice with all effort, and say if it misses a constraint."""
        criterion = evaluator.criterion
        if not isinstance(criterion, AimCriterion):
            return
        i, j, _ = table.cells[self.best_index_]
        samples = evaluator.test_samples(cells)
        model = evaluator.predictions(cells, i, j, samples)
        rule = criterion.fit(model, samples)
        value, *_ = criterion.values(rule, model.held_out.proba, samples)
        if value >= self.best_score_ - 1e-12:
            self.best_rule_, self.best_score_ = rule, value

    def _fit_choice(
        self, table: SearchTable, X: Features, y: Array, sample_weight: ArrayLike | None
    ) -> None:
        """Fit the chosen classifiers to all samples."""

        def fitted(index: int, rule: str) -> MarginClassifier:
            i, j, _ = table.cells[index]
            penalty = float(table.penalties[j])
            model = self._final_classifier(penalty, table.margins[i], table.weights[i], rule)
            return model.fit(X, y, sample_weight)

        link = self._has_link(len(self.classes_))
        rule = self.best_rule_ if isinstance(self.best_rule_, str) else "bayes" if link else "score"
        self.best_estimator_ = fitted(self.best_index_, rule)
        i, j, _ = table.cells[self.probability_index_]
        self.probability_calibration_ = table.results.calibrations[i, j]
        self.probability_estimator_ = self.best_estimator_
        if (i, j) != table.cells[self.best_index_][:2]:
            self.probability_estimator_ = fitted(self.probability_index_, rule)
        for name in self._copied:
            setattr(self, name, getattr(self.best_estimator_, name))

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

    def _calibrates(self) -> bool:
        """Return whether probabilities of the hinge are asked for."""
        wishes = self._wishes()
        asked = wishes.aim is not None or wishes.costs is not None
        return asked or wishes.scoring not in (None, "accuracy")

    @available_if(_offers_proba)
    def predict_proba(self, X: Features) -> Array:
        """Return class probabilities, those of ``probability_estimator_``.

        They are the probabilities of the lowest log-loss in cross-validation. Where decisions are
        better by another fit, ``predict`` uses that one, and need not agree with them.

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
        model = getattr(self, "probability_estimator_", self.best_estimator_)
        return _proba(model, self.probability_calibration_, X)

    @available_if(_offers_proba)
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
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_offers_proba)
    def decision_proba(self, X: Features) -> Array:
        """Return the class probabilities that decisions are made by, those of ``best_estimator_``.

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
        return _proba(self.best_estimator_, self.best_calibration_, X)

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
        if isinstance(self.best_rule_, str):
            return self.best_estimator_.predict(X)
        return self.best_rule_.predict(self.decision_proba(X))


def _proba(model: Any, calibration: ScoreCalibration | None, X: Features) -> Array:
    """Return the probabilities of a fitted classifier, by its link or by a calibration."""
    if calibration is None:
        return np.asarray(model.predict_proba(X))
    return calibration.proba(model.decision_function(X))


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
