"""The common part of searches: folds, cells, a table of them, a choice, and the final fits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import Memory
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_memory, validate_data

from immax.arrays import Array, Features
from immax.callbacks import CallbackSupport, Task, fit_task
from immax.decisions import Accuracy, Aim
from immax.decisions.decided_model import DecidedScore
from immax.documentation import DocumentationLink
from immax.foreign_parameters import RefusesForeignParameters
from immax.margins import class_radii
from immax.routing import routing_enabled
from immax.search.cell_scores import AimCriterion, Criterion
from immax.search.cells import Cells
from immax.search.choice import CellChoice
from immax.search.counted_family import CountedFamily
from immax.search.criteria import Purpose, SearchGoal, resolve_aim_of, resolve_purpose
from immax.search.evaluation import CellEvaluator
from immax.search.exploration import explore_family
from immax.search.families import resolve_family
from immax.search.folds import CrossValidation, RandomState, make_folds
from immax.search.margin_family import MarginFamily, family_weights
from immax.search.rounds import SearchRounds
from immax.search.routing import make_router, route_metadata
from immax.search.samples import SearchSamples
from immax.search.table import SearchTable
from immax.search.weighted_family import WeightedFamily
from immax.validation import (
    Sample,
    check_flags,
    check_no_path,
    check_whole,
    is_path,
    training_sample,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MarginSearch"]

EVIDENCE = 0.75  # of labels in the fit of a rule, as in DecisionClassifierCV


class MarginSearch(
    DocumentationLink,
    RefusesForeignParameters,
    CallbackSupport,
    CellChoice,
    DecidedScore,
    ClassifierMixin,
    BaseEstimator,
):
    """Search for margins and for the strength of the penalty by cross-validation.

    Subclasses say which classifier is fitted.
    """

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
    family: str | MarginFamily
    n_margins: int
    cv: CrossValidation
    scoring: Any
    budget: int
    n_jobs: int | None
    random_state: RandomState
    use_radii: bool = False
    memory: str | Memory | None = None
    refit: bool | str
    verbose: int

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

    @abstractmethod
    def _goal(self) -> SearchGoal:
        """Return the parameters that say what the search is for."""

    @abstractmethod
    def _cells(self, samples: SearchSamples, purpose: Purpose) -> Cells:
        """Return the object that fits all cells of a fold."""

    @abstractmethod
    def _norms(self, X: Features, weight: Array) -> Array:
        """Return the norms of the features of the samples that have weight."""

    def _validate(self, X: Features, y: ArrayLike) -> tuple[Features, Array]:
        check_no_path(X)
        return validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _fit_files(self, path: Any, target: Any, sample_weight: Any) -> Self:  # noqa: ARG002
        """Search on Parquet files; a search that cannot raises TypeError."""
        check_no_path(path)
        return self

    def _check_common(self) -> None:
        check_whole("n_margins", self.n_margins)
        check_whole("budget", self.budget)
        check_flags(use_radii=self.use_radii)
        if self.one_se not in (True, False, "auto"):
            raise ValueError(f"one_se must be True, False or 'auto'; got {self.one_se!r}")
        if not isinstance(self.evidence, (int, float, np.number)) or not 0 <= self.evidence <= 1:
            raise ValueError(f"evidence must be from 0 to 1; got {self.evidence!r}")
        resolve_aim_of(self._goal())

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Search, and fit the choice to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d), or path
            Training features. IMMAXClassifierCV also takes the path of a Parquet file or folder,
            which may be larger than memory; its columns are prepared as by IMMAXClassifier.
        y : array-like of shape (n,) or str
            Labels of two classes or more; in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            Weights of the losses and, where the scorer takes them, of the scores; not negative. In
            files, the name of their column.
        groups : array-like of shape (n,), optional
            Groups of samples, for splitters such as GroupKFold.
        **params
            With scikit-learn's metadata routing enabled, what else the splitter and the scorers
            ask for. Scorers then get weights only if they ask for them.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        ValueError
            If a parameter makes no sense, or if a class is missing from a fold.
        TypeError
            If there are further arguments, and metadata routing is not enabled or nothing asks
            for them.
        UnsetMetadataPassedError
            With metadata routing, if weights are given and a scorer does not say whether it asks
            for them.
        """
        if params and not routing_enabled():
            raise TypeError(
                f"{type(self).__name__}.fit got unexpected arguments: {', '.join(params)}; "
                "scorers and splitters can ask for them if metadata routing is enabled, by "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        if is_path(X):
            if groups is not None or params:
                raise TypeError("files take no groups and no metadata: a hash makes the folds")
            return self._fit_files(X, y, sample_weight)
        with fit_task(self, X, y, sample_weight, predicts=bool(self.refit)) as task:
            self._check_parameters()
            self._check_common()
            self._penalties()  # refuses values that make no sense before anything is computed
            self._search(X, y, sample_weight, groups, params, task)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what of the metadata goes to the splitter and to the scorers.

        Returns
        -------
        MetadataRouter
        """
        return make_router(self, self._goal())

    def _search(
        self,
        given: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        params: Mapping[str, Any],
        task: Task,
    ) -> None:
        X, y = self._validate(given, y)
        sample = training_sample(X, y, sample_weight)
        split: Mapping[str, Any] = {"groups": groups}
        scores = None
        if routing_enabled():
            metadata = {"sample_weight": sample_weight, "groups": groups, **params}
            split, scores = route_metadata(self, self._goal(), len(y), metadata)
        folds = make_folds(self.cv, X, y, sample.weight, self.random_state, **split)
        weight = None if sample_weight is None else sample.weight
        test = folds[0].tests[0]
        has_link = self._has_link(len(sample.classes))
        shown = given if hasattr(given, "columns") else X  # what scorers see
        purpose = resolve_purpose(
            self._goal(),
            _safe_indexing(shown, test),
            y[test],
            None if weight is None else weight[test],
            sample.classes,
            has_link,
            scores,
            test,
        )
        penalties = self._penalties_for(X, sample)
        family = self._family(purpose.criterion)
        if self.use_radii:
            rows = np.flatnonzero(sample.weight)
            norms = self._norms(X, sample.weight)
            radii = class_radii(norms, sample.labels[rows], len(sample.classes))
            family = CountedFamily(family, radii=tuple(radii.tolist()))
        samples = SearchSamples(X, sample.labels, weight, sample.classes)
        evaluator = CellEvaluator(
            samples, shown, self._loss, has_link, purpose.criterion, purpose.others
        )
        rounds = SearchRounds(
            self._cells(samples, purpose),
            evaluator,
            folds,
            family,
            penalties,
            self._penalty_name,
            self.n_jobs,
            bool(self.verbose),
            check_memory(self.memory),
            task,
        )
        max_points = int(self.budget) // (len(penalties) * len(folds))
        points, results = explore_family(
            family, sample.counts, int(self.n_margins), rounds.evaluate, max_points
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
        if len(rounds.held_out.terms) == len(points):
            self._refine_rule(table, evaluator, rounds.held_out)
        if self.refit:
            self._fit_choice(table, given, y, sample_weight, task)

    def _family(self, criterion: Criterion) -> MarginFamily:
        """Return the margins to search among, with class weights where the aim calls for them."""
        plain = not isinstance(criterion, AimCriterion) or isinstance(criterion.aim, Accuracy)
        if isinstance(self.family, str) and self.family == "auto" and not plain:
            return WeightedFamily()
        return resolve_family(self.family)

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

    def _calibrates(self) -> bool:
        return self._goal().need_probabilities
