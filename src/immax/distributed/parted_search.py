"""The search for margins and lambda over rows in parts: all cells in the same rounds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from immax.arrays import Array, Vector
from immax.callbacks import fit_task
from immax.distributed.descent import Descent, Stopping
from immax.distributed.evaluation import Cell
from immax.distributed.held_out_rows import HeldOutFit, HeldOutSums, score_held_out
from immax.distributed.minimisation import run_rounds
from immax.distributed.parts_criteria import PartsCriterion, parts_criterion
from immax.distributed.parts_fit import (
    PartedData,
    RawParts,
    as_seed,
    check_smooth,
    minimise_parts,
    prepare_parts,
)
from immax.distributed.row_losses import IMMAXRows
from immax.distributed.samples import sampled_preconditioner, sampled_problem, sampled_start
from immax.linear import ClassTerms, IMMAXClassifier
from immax.penalties import make_penalty
from immax.search.classifier import LABEL_TOL, PROBABILITY_TOL, IMMAXClassifierCV
from immax.search.counted_family import CountedFamily
from immax.search.exploration import explore_family
from immax.search.margin_family import MarginFamily, family_weights
from immax.search.results import CellResults
from immax.search.table import SearchTable

__all__ = ["PartedIMMAXCV"]

MOST_PARAMETERS = 2_000_000  # of all cells of a round together


class _Grid(NamedTuple):
    """What the cells of a search share."""

    data: PartedData
    family: MarginFamily
    penalties: Array
    criterion: PartsCriterion
    loss: str
    form: str
    fit_intercept: bool
    max_iter: int
    seed: int

    def terms(self, point: Array, counts: Vector) -> ClassTerms:
        """Return the margins and weights of a point, for some class counts."""
        margins = np.asarray(self.family.margins(point, counts))
        return ClassTerms(margins, family_weights(self.family, point, counts))

    def rows(self, terms: ClassTerms, counts: Vector) -> IMMAXRows:
        """Return the loss of rows for these margins and weights."""
        factors = terms.weights / (terms.weights @ counts)
        return IMMAXRows(self.loss, self.form, terms.margins, factors)


class PartedIMMAXCV(IMMAXClassifierCV):
    """IMMAXClassifierCV for rows in parts; see ``DaskIMMAXClassifierCV``."""

    n_rounds_: int

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what the search itself asks for: no splitter and no scorer is called.

        Returns
        -------
        MetadataRequest
        """
        return self._get_metadata_request()

    def _check_parted(self) -> None:
        self._check_parameters()
        self._check_common()
        self._penalties()
        if self.loss == "hinge":
            raise ValueError(
                "rows in parts need a smooth loss, 'logistic' or 'exponential'; "
                "IMMAXClassifierCV searches with loss='hinge' in memory"
            )
        if not make_penalty(self.penalty, self.l1_ratio, self.groups).smooth:
            raise ValueError(f"rows in parts need penalty='l2'; got penalty={self.penalty!r}")
        if self.memory is not None:
            raise ValueError(
                "memory must be None for rows in parts: results of folds are stored under a hash "
                f"of their rows, which are not in one place; got {self.memory!r}"
            )
        if not isinstance(self.cv, (int, np.integer)) or self.cv < 2:
            raise ValueError(
                "cv must be a number of folds, at least 2, for rows in parts: a hash of the row's "
                f"position says in which fold it is held out; got {self.cv!r}"
            )

    def _fit_parts(self, raw: RawParts, names: Array | None = None) -> None:
        with fit_task(self, n_subtasks=0):
            self._search_parts(raw, names)

    def _search_parts(self, raw: RawParts, names: Array | None) -> None:
        seed = as_seed(self.random_state)
        n_folds = int(self.cv)  # type: ignore[arg-type]
        data = prepare_parts(raw, radii=bool(self.use_radii), n_folds=n_folds, seed=seed)
        _check_folds(data)
        criterion = parts_criterion(
            self._goal(),
            data.sample.X,
            data.classes[data.sample.y],
            data.classes,
            data.counts / data.counts.sum(),
        )
        family = self._family(criterion.purpose.criterion)
        if data.radii is not None:
            family = CountedFamily(family, radii=tuple(data.radii.tolist()))
        grid = _Grid(
            data,
            family,
            self._penalties(),
            criterion,
            self.loss,
            self.form,
            bool(self.fit_intercept),
            int(self.max_iter),
            seed,
        )
        centre = grid.terms(family.centre(data.counts), data.counts)
        check_smooth(data.sample, grid.rows(centre, data.counts))
        points, results = explore_family(
            family,
            data.counts,
            int(self.n_margins),
            lambda points: _evaluate(grid, points),
            int(self.budget) // (len(grid.penalties) * n_folds),
        )
        terms = [grid.terms(point, data.counts) for point in points]
        table = SearchTable(
            points,
            [own.margins for own in terms],
            [own.weights for own in terms],
            grid.penalties,
            self._penalty_strengths(grid.penalties),
            results,
            self._penalty_name,
        )
        self.classes_ = data.classes
        self.n_features_in_ = data.n_features
        if names is not None:
            self.feature_names_in_ = names
        self.theory_parameters_ = family.centre(data.counts)
        self._choose(table, criterion.purpose)
        if self.refit:
            self._fit_final(table, grid, names)
        self.n_rounds_ = data.parts.n_rounds

    def _fit_final(self, table: SearchTable, grid: _Grid, names: Array | None) -> None:
        """Fit the choice, and that of the probabilities, to all rows."""
        rule = self.best_rule_ if isinstance(self.best_rule_, str) else "bayes"

        def fitted(index: int) -> IMMAXClassifier:
            i, j, _ = table.cells[index]
            terms = ClassTerms(table.margins[i], table.weights[i])
            model = self._final_classifier(float(table.penalties[j]), *terms, rule)
            model.random_state = grid.seed
            solution = minimise_parts(model, grid.data, grid.rows(terms, grid.data.counts))
            model.n_features_in_ = grid.data.n_features
            if names is not None:
                model.feature_names_in_ = names
            model.take_solution(grid.data.classes, terms, solution, grid.data.n_features)
            return model

        self.best_estimator_ = self.probability_estimator_ = fitted(self.best_index_)
        self.probability_calibration_ = None  # smooth losses have a link
        cells = table.cells[self.best_index_], table.cells[self.probability_index_]
        if cells[0][:2] != cells[1][:2]:
            self.probability_estimator_ = fitted(self.probability_index_)
        self.take_fit()


def _check_folds(data: PartedData) -> None:
    training = data.counts[:, None] - data.held_out
    lacking = np.argwhere(training <= 1e-12 * data.counts[:, None])
    if lacking.size:
        label, fold = data.classes.tolist()[lacking[0, 0]], int(lacking[0, 1])
        raise ValueError(
            f"all rows of the class {label!r} are held out in fold {fold}; use fewer folds, or "
            "another random_state"
        )
    empty = np.flatnonzero(data.held_out.sum(axis=0) == 0)
    if empty.size:
        raise ValueError(f"no row is held out in fold {int(empty[0])}; use fewer folds")


def _evaluate(grid: _Grid, points: Sequence[Array]) -> CellResults:
    """Fit and score the cells of some points, as many at a time as a round may have."""
    n_folds = grid.data.held_out.shape[1]
    outputs = 1 if len(grid.data.classes) == 2 else len(grid.data.classes)
    per_point = len(grid.penalties) * n_folds * outputs * (grid.data.n_features + 1)
    at_once = max(1, MOST_PARAMETERS // per_point)
    parts = [
        _evaluate_together(grid, points[begin : begin + at_once])
        for begin in range(0, len(points), at_once)
    ]
    return CellResults.join(parts)


def _evaluate_together(grid: _Grid, points: Sequence[Array]) -> CellResults:
    begin = time.perf_counter()
    data, n_folds = grid.data, grid.data.held_out.shape[1]
    cells: list[Cell] = []
    descents: list[Descent] = []
    terms: list[ClassTerms] = []
    tol = LABEL_TOL if grid.criterion.purpose.uses_labels else PROBABILITY_TOL
    stopping = Stopping(tol, grid.max_iter, certified=False)
    for point in points:
        own = [grid.terms(point, data.counts - data.held_out[:, fold]) for fold in range(n_folds)]
        start: Array | None = None
        rows = grid.rows(grid.terms(point, data.counts), data.counts)
        for lam in grid.penalties:
            problem = sampled_problem(data.sample, rows, float(lam), grid.fit_intercept)
            start = sampled_start(problem, grid.seed, start)
            precondition = sampled_preconditioner(problem, start, grid.seed)
            for fold in range(n_folds):
                counts = data.counts - data.held_out[:, fold]
                descents.append(
                    Descent(
                        [start],
                        float(lam),
                        grid.fit_intercept,
                        precondition,
                        stopping,
                        problem.dtype,
                        len(cells),
                    )
                )
                cells.append(Cell(grid.rows(own[fold], counts), fold))
                terms.append(own[fold])
    thetas = run_rounds(data.parts, cells, descents, grid.fit_intercept)
    fits = [
        HeldOutFit(theta, number % n_folds, *own)
        for number, (theta, own) in enumerate(zip(thetas, terms, strict=True))
    ]
    seconds = (time.perf_counter() - begin) / len(cells)
    begin = time.perf_counter()
    rules = grid.criterion.rules
    sums: HeldOutSums = data.parts.reduce(
        score_held_out, fits, rules, grid.loss, grid.fit_intercept
    )
    shape = len(points), len(grid.penalties), n_folds
    tables = sums.tables.reshape(*shape, *sums.tables.shape[1:])
    losses, sizes = sums.log_losses.reshape(shape), data.held_out.sum(axis=0)
    results = CellResults.empty(*shape[:2], len(rules), n_folds)
    results.fit_times[:] = seconds
    results.score_times[:] = (time.perf_counter() - begin) / len(cells)
    results.losses[:] = losses / sizes
    for cell in np.ndindex(*shape[:2]):
        cell_scores = grid.criterion.score(tables[cell], losses[cell], sizes)
        results.scores[cell], results.totals[cell] = cell_scores.splits, cell_scores.totals
        results.without[cell], results.rules[cell] = cell_scores.without, cell_scores.rules
    return results
