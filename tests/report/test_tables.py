"""Rows of the page's tables."""

import numpy as np
import pytest

from immax.margins import theory_margins
from immax.report.tables import ConfusionCell, class_counts, class_scores, confusion_cells


def test_the_most_frequent_class_is_first_with_its_margin(comparison):
    often, rare = class_counts(comparison)
    assert (often.name, often.rows, often.share) == ("<often>", 45, 0.75)
    assert (rare.name, rare.rows, rare.share) == ("rare", 15, 0.25)
    theory = theory_margins([45, 15])
    assert [often.theory, rare.theory] == pytest.approx((theory / theory.mean()).tolist())
    assert (often.theory + rare.theory) / 2 == pytest.approx(1)  # equal margins are 1


def test_scores_of_a_method_that_never_predicts_the_rare_class(comparison):
    often, rare = class_scores(comparison, "svm")
    assert (often.recall, often.precision, often.rows) == (1.0, 0.75, 45)
    assert often.f1 == pytest.approx(2 * 0.75 / 1.75)
    assert (rare.recall, rare.precision, rare.f1, rare.rows) == (0.0, 0.0, 0.0, 15)


def test_rows_of_a_confusion_matrix_are_true_classes(comparison):
    (often, first), (rare, second) = confusion_cells(comparison, "svm")
    assert (often, rare) == ("<often>", "rare")
    assert first == (ConfusionCell(45, 1.0, True), ConfusionCell(0, 0.0, False))
    assert second == (ConfusionCell(15, 1.0, False), ConfusionCell(0, 0.0, True))


def test_all_rows_are_counted_once(comparison):
    matrix = confusion_cells(comparison, "logistic")
    assert sum(cell.count for _, cells in matrix for cell in cells) == len(comparison.codes)
    for _, cells in matrix:
        assert np.sum([cell.share for cell in cells]) == pytest.approx(1)
