"""Plans: what is compared, on which data, how often; and the cells that a plan expands into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from immax.bench.cells import (
    Cell,
    DataSpec,
    EstimatorCell,
    Grid,
    NetworkCell,
    TrialCell,
    Variant,
    digest_cells,
)
from immax.bench.sections import DataPlan, ImbalancePlan, TrainingPlan
from immax.datasets.registry import COLLECTIONS
from immax.evaluation.estimators import NETWORKS, TWO_CLASSES, grid_points, known_methods
from immax.evaluation.selection import Selection
from immax.losses.catalog import METHODS

__all__ = ["Plan"]

THINNING_REVISION = 1  # before, tables of more than max_rows rows became balanced ones
RECIPE = ("epochs", "lr")  # what grids may vary where every point is reported


@dataclass(frozen=True)
class Plan:
    """The content of a plan's TOML file.

    Parameters
    ----------
    name, title : str
    data : DataPlan
    models, methods : tuple of str
        Every method is run with every model that has it.
    runs : int, default=1
        Repetitions with different seeds.
    first_run : int, default=0
        The seed of the first of them. Another one gives other folds and other samples, on which
        what was found with the first can be confirmed.
    about : str, default=""
        A description for readers of the file.
    imbalance : ImbalancePlan
    training : TrainingPlan
    selection : Selection
    grids : mapping of str to mapping of str to tuple of float
        For each method, values to try in place of its own grid. For linear models, ``lam`` takes
        the place of ``selection.lams``. For networks with IMMAX, ``groups`` (one number, or one
        for each data set) asks for the paper's search of margins: see
        ``immax.evaluation.box_search``.
    """

    name: str
    title: str
    data: DataPlan
    models: tuple[str, ...]
    methods: tuple[str, ...]
    runs: int = 1
    first_run: int = 0
    about: str = ""
    imbalance: ImbalancePlan = field(default_factory=ImbalancePlan)
    training: TrainingPlan = field(default_factory=TrainingPlan)
    selection: Selection = field(default_factory=Selection)
    grids: Mapping[str, Grid] = field(default_factory=dict)

    @property
    def seeds(self) -> range:
        """The seeds of the runs."""
        return range(self.first_run, self.first_run + self.runs)

    def variants(self) -> Iterator[tuple[DataSpec, Variant]]:
        """Yield the data sets and what is done to them.

        Yields
        ------
        DataSpec, Variant
        """
        imbalance = self.imbalance
        for name in self.data.names:
            data = self._data_spec(name)
            if name in COLLECTIONS:
                known = COLLECTIONS[name].names()
                for own in [own for own in self.data.sets if own in known] or known:
                    for fold in range(self.data.folds):
                        yield data, Variant(set_name=own, fold=fold)
            elif name == "table":
                for fold in range(self.data.folds):
                    yield data, Variant(fold=fold)
            elif imbalance.kind == "one_vs_rest":
                for own in imbalance.classes:
                    yield data, Variant(kind=imbalance.kind, class_name=own)
            elif imbalance.kind == "none":
                yield data, Variant(kind=imbalance.kind)
            else:
                minority = imbalance.minority if imbalance.kind == "step" else None
                for ratio in imbalance.ratios:
                    yield data, Variant(kind=imbalance.kind, ratio=ratio, minority=minority)

    def cells(self) -> list[Cell]:
        """Return all cells, trials before the final cells that wait for them.

        Where every point of a grid is reported, all points of a run come before those of the next
        run, so that a plan that was interrupted has compared all points in the runs that are done.

        Returns
        -------
        list of Cell
        """
        cells: list[Cell] = []
        for (data, variant), model, method in product(self.variants(), self.models, self.methods):
            many = data.name in COLLECTIONS and not COLLECTIONS[data.name].two_classes
            if method in known_methods(model) and not (many and method in TWO_CLASSES):
                tests = self.selection.aims or self.imbalance.tests
                common = (data, variant, tests, model, method)
                make = self._network_cells if model in NETWORKS else self._estimator_cells
                cells += make(*common)
        if self.selection.each:
            cells.sort(key=lambda cell: cell.run if isinstance(cell, NetworkCell) else 0)
        return sorted(cells, key=lambda cell: cell.stage == "final")

    def _estimator_cells(
        self, data: DataSpec, variant: Variant, tests: tuple[str, ...], model: str, method: str
    ) -> list[Cell]:
        common = (data, variant, tests, model, method, self.selection, self._grid(model, method))
        revision = _revision(method, data)
        return [EstimatorCell(*common, run, revision=revision) for run in self.seeds]

    def _network_cells(
        self, data: DataSpec, variant: Variant, tests: tuple[str, ...], model: str, method: str
    ) -> list[Cell]:
        common = (data, variant, tests, model, method, self.training)
        grid = self._grid(model, method)
        if len(grid.get("groups", ())) > 1:  # one number for each of the data sets
            grid |= {"groups": (grid["groups"][self.data.names.index(data.name)],)}
        if self.selection.each:
            return self._point_cells(*common[:-1], grid)
        points = tuple(grid_points(method, grid, self.selection.trials))
        folds, revision = self.selection.folds, _revision(method, data)
        trials: list[Cell] = [
            TrialCell(*common, point, folds, fold, revision=revision)
            for point in points
            for fold in range(self.selection.use_folds or folds)
        ]
        finals = [
            NetworkCell(*common, points, self.selection.scoring, run, revision=revision)
            for run in self.seeds
        ]
        return [*(trials if len(points) > 1 else ()), *finals]

    def _point_cells(
        self,
        data: DataSpec,
        variant: Variant,
        tests: tuple[str, ...],
        model: str,
        method: str,
        grid: Grid,
    ) -> list[Cell]:
        """Return a cell for every recipe, every point of the grid and every run."""
        own = {name: values for name, values in grid.items() if name not in RECIPE}
        points = grid_points(method, own) if own or method == "immax" else [{}]
        recipes = [
            replace(self.training, epochs=int(epochs), lr=lr)
            for epochs in grid.get("epochs", (self.training.epochs,))
            for lr in grid.get("lr", (self.training.lr,))
        ]
        scoring, revision = self.selection.scoring, _revision(method, data)
        return [
            NetworkCell(
                data,
                variant,
                tests,
                model,
                method,
                recipe,
                (point,),
                scoring,
                run,
                revision=revision,
            )
            for run in self.seeds
            for recipe in recipes
            for point in points
        ]

    def _grid(self, model: str, method: str) -> dict[str, tuple[float, ...]]:
        """Return the values to try; λ is a parameter of linear models only."""
        grid = self.grids.get(method, {})
        return {name: own for name, own in grid.items() if name != "lam" or model == "linear"}

    def _data_spec(self, name: str) -> DataSpec:
        data = self.data
        if name == "table":
            return DataSpec(name, data.share, data.path, data.target, data.folds)
        if name in COLLECTIONS:
            return DataSpec(name, data.share, folds=data.folds, max_rows=data.max_rows or None)
        own = data.features[data.names.index(name) if len(data.features) > 1 else 0]
        patches = data.patches if own == "patches" else None
        size = data.size or None
        return DataSpec(name, data.share, features=own, patches=patches, size=size)

    @property
    def digest(self) -> str:
        """A hash of all cells: plans with the same digest ask for the same work."""
        return digest_cells([cell.id for cell in self.cells()])


def _revision(method: str, data: DataSpec) -> int:
    """Return the revision of a method's loss, plus that of how data are thinned."""
    own = METHODS[method].revision if method in METHODS else 1
    return own + (THINNING_REVISION if data.max_rows else 0)
