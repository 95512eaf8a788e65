"""The fits of a fold, and what a search says about them: to callbacks, and in a line."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from immax import __version__
from immax.arrays import Array
from immax.callbacks import Task
from immax.search.cells import Cells, CellWatch, ignore_cell
from immax.search.folds import Fold
from immax.search.held_out import HeldOutCells
from immax.search.margin_family import MarginFamily

__all__ = ["FoldProgress", "fit_fold", "run_fold"]


@dataclass(frozen=True)
class FoldProgress:
    """Where the progress of a fold is reported.

    Attributes
    ----------
    label : str, optional
        What the line begins with; without it nothing is printed.
    task : Task, optional
        All fits of the fold; None without callbacks.
    n_before : int, default=0
        The number of margins that were fitted in earlier rounds.
    penalty_name : str, default="lam"
        What the strength of the penalty is called.
    """

    label: str | None = None
    task: Task | None = None
    n_before: int = 0
    penalty_name: str = "lam"

    def cell_watch(self, penalties: Array) -> CellWatch:
        """Return what makes every cell a part of the fold's task.

        Parameters
        ----------
        penalties : ndarray
            Values of lam or C.

        Returns
        -------
        callable
            Takes the indices of the margins and of the penalty, as ``Cells.run`` calls it.
        """
        task = self.task
        if task is None:
            return ignore_cell

        def watch(i: int, j: int) -> Task:
            margins = f"margins {self.n_before + i + 1}"
            return task.subtask(f"{margins}, {self.penalty_name}={penalties[j]:.6g}")

        return watch


def fit_fold(
    cells: Cells,
    fold: Fold,
    family: MarginFamily,
    points: Sequence[Array],
    penalties: Array,
    progress: FoldProgress,
    version: str = __version__,  # noqa: ARG001
) -> HeldOutCells:
    """Fit all cells of a fold, and print a line when they are done if the fold has a label.

    The line is printed by the process that has done the work, so that it appears at once.

    Parameters
    ----------
    cells : Cells
        Fits them.
    fold : Fold
        Training samples and test samples.
    family : MarginFamily
        The margins.
    points : sequence of ndarray
        Parameters of the family.
    penalties : ndarray
        Values of lam or C.
    progress : FoldProgress
        Where the cells and the fold are reported.
    version : str
        Of this library: fits of another version are not taken from a cache.

    Returns
    -------
    HeldOutCells
    """
    start = time.perf_counter()
    scored = cells.run(fold, family, points, penalties, progress.cell_watch(penalties))
    if progress.label is not None:
        seconds = time.perf_counter() - start
        n_fits = len(points) * len(penalties)
        print(f"{progress.label}: {n_fits} fits in {seconds:.1f} s", flush=True)
    return scored


def run_fold(
    fit: Callable[..., HeldOutCells],
    cells: Cells,
    fold: Fold,
    family: MarginFamily,
    points: Sequence[Array],
    penalties: Array,
    progress: FoldProgress,
) -> HeldOutCells:
    """Run ``fit_fold``, or its cached version, as a task; a fold from a cache has no cells.

    Parameters
    ----------
    fit : callable
        ``fit_fold``, cached or not.
    cells, fold, family, points, penalties, progress
        As in ``fit_fold``.

    Returns
    -------
    HeldOutCells
    """
    with progress.task or nullcontext():
        return fit(cells, fold, family, points, penalties, progress)
