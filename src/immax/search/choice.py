"""The cells that a search chooses, for decisions and for probabilities, and their final fits."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.callbacks import Task
from immax.decisions import Accuracy
from immax.search.cell_scores import AimCriterion
from immax.search.chosen_model import ChosenModel, MarginClassifier
from immax.search.criteria import Purpose
from immax.search.evaluation import CellEvaluator
from immax.search.held_out import HeldOutCells
from immax.search.table import SearchTable

__all__ = ["CellChoice"]

REFITTED = ("best_estimator_", "probability_estimator_", "probability_calibration_")


class CellChoice(ChosenModel):
    """What a search does with the table of its cells.

    Subclasses say which classifier is fitted in the end.
    """

    _penalty_name: ClassVar[str]  # the parameter of the penalty's strength: lam or C
    _copied: ClassVar[tuple[str, ...]]  # attributes of the final fit that the search has too
    classes_: Array
    one_se: bool | str

    @abstractmethod
    def _has_link(self, n_classes: int) -> bool:
        """Return whether the loss determines probabilities."""

    @abstractmethod
    def _final_classifier(
        self, penalty: float, margins: Array, weights: Array, rule: str
    ) -> MarginClassifier:
        """Return a classifier to be fitted to all samples."""

    def _choose(self, table: SearchTable, purpose: Purpose) -> None:
        """Tabulate all cells and choose one for decisions and one for probabilities."""
        for name in (*REFITTED, *self._copied):
            self.__dict__.pop(name, None)  # of an earlier fit
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
        self,
        table: SearchTable,
        X: Features,
        y: Array,
        sample_weight: ArrayLike | None,
        task: Task,
    ) -> None:
        """Fit the chosen classifiers to all samples."""

        def fitted(index: int, rule: str) -> MarginClassifier:
            i, j, _ = table.cells[index]
            penalty = float(table.penalties[j])
            model = self._final_classifier(penalty, table.margins[i], table.weights[i], rule)
            with task.subtask("refit").passed_to(model):
                return model.fit(X, y, sample_weight)

        link = self._has_link(len(self.classes_))
        rule = self.best_rule_ if isinstance(self.best_rule_, str) else "bayes" if link else "score"
        self.best_estimator_ = fitted(self.best_index_, rule)
        i, j, _ = table.cells[self.probability_index_]
        self.probability_calibration_ = table.results.calibrations[i, j]
        self.probability_estimator_ = self.best_estimator_
        if (i, j) != table.cells[self.best_index_][:2]:
            self.probability_estimator_ = fitted(self.probability_index_, rule)
        self.take_fit()

    def take_fit(self) -> None:
        """Take over the coefficients and other fitted attributes of ``best_estimator_``.

        ``fit`` does so at the end. It is for those who replace ``best_estimator_`` afterwards, for
        example by a fit of the same parameters to more rows.
        """
        for name in self._copied:
            setattr(self, name, getattr(self.best_estimator_, name))
