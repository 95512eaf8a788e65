"""Rounds of a search: some margins with all penalties, fitted to and scored on all folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from joblib import Memory, Parallel, delayed

from immax.arrays import Array
from immax.callbacks import Task
from immax.search.cells import Cells
from immax.search.evaluation import CellEvaluator
from immax.search.folds import Fold
from immax.search.held_out import HeldOutCells
from immax.search.margin_family import MarginFamily
from immax.search.progress import FoldProgress, fit_fold, run_fold
from immax.search.results import CellResults

__all__ = ["SearchRounds"]

MOST_ENTRIES = 2**26  # scores of held-out samples that are kept at a time


@dataclass
class SearchRounds:
    """Evaluates margins as a search asks for them.

    Attributes
    ----------
    cells : Cells
        Fits the cells of a fold.
    evaluator : CellEvaluator
        Scores them.
    folds : list of Fold
        Training and test samples.
    family : MarginFamily
        The margins.
    penalties : ndarray
        Values of lam or C.
    penalty_name : str
        What they are called.
    n_jobs : int or None
        The number of folds that are fitted in parallel.
    verbose : bool
        Whether a line is printed for every fold.
    memory : joblib.Memory
        Where the fits of folds are kept.
    task : Task
        The search; each round is a part of it, and the folds are parts of a round.
    held_out : HeldOutCells
        Those of the last round.
    n_done : int
        The number of margins that were evaluated.
    """

    cells: Cells
    evaluator: CellEvaluator
    folds: list[Fold]
    family: MarginFamily
    penalties: Array
    penalty_name: str
    n_jobs: int | None
    verbose: bool
    memory: Memory
    task: Task
    held_out: HeldOutCells = field(init=False)
    n_done: int = field(default=0, init=False)

    def evaluate(self, points: Sequence[Array]) -> CellResults:
        """Fit and score all cells of some margins, in as many rounds as the memory requires.

        Parameters
        ----------
        points : sequence of ndarray
            Parameters of the family.

        Returns
        -------
        CellResults
        """
        n_tests = sum(len(rows) for fold in self.folds for rows in fold.tests)
        n_classes = len(self.evaluator.samples.classes)
        at_once = max(1, MOST_ENTRIES // (len(self.penalties) * n_tests * n_classes))
        parts = [
            self._evaluate_together(points[begin : begin + at_once])
            for begin in range(0, len(points), at_once)
        ]
        return CellResults.join(parts)

    def _evaluate_together(self, points: Sequence[Array]) -> CellResults:
        name = f"margins {self.n_done + 1} to {self.n_done + len(points)}"
        # Tasks of folds are made before any of them begins: workers receive copies of the tree.
        with self.task.subtask(name, n_subtasks=len(self.folds), ordered=False) as task:
            progress = list(self._progress(task, name, len(points)))
            fit = self.memory.cache(fit_fold, ignore=["progress"])
            scored = Parallel(n_jobs=self.n_jobs)(
                delayed(run_fold)(fit, self.cells, fold, self.family, points, self.penalties, each)
                for fold, each in zip(self.folds, progress, strict=True)
            )
        self.n_done += len(points)
        self.held_out = HeldOutCells.pool(scored)
        return self.evaluator.evaluate(self.held_out)

    def _progress(self, task: Task, name: str, n_points: int) -> Iterator[FoldProgress]:
        n_cells = n_points * len(self.penalties)
        for k in range(len(self.folds)):
            label = f"{name}, fold {k + 1} of {len(self.folds)}" if self.verbose else None
            own = task.subtask("fold", n_subtasks=n_cells, number=k) if task.watched else None
            yield FoldProgress(label, own, self.n_done, self.penalty_name)
