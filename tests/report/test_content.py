"""What the page shows, before it is HTML."""

import numpy as np
import pytest

from immax.report import content
from immax.report.content import describe_page


@pytest.fixture(scope="module")
def page(comparison, answer, pipeline, about):
    return describe_page(comparison, answer, {"immax": pipeline}, about)


def test_the_data(page):
    assert page.title == "state of parcels & co.csv"
    assert page.notices == ("A notice.",)
    assert page.data.rows == 60
    assert page.data.n_used == 2  # c is constant
    assert page.data.ratio == 3.0
    assert [row.name for row in page.data.classes] == ["<often>", "rare"]


def test_the_ranking(page, answer):
    ranking = page.ranking
    assert ranking.rows == answer.rows
    assert (ranking.recommended, ranking.baseline) == ("immax", "logistic")
    assert ranking.n_folds == 6
    directions = {measure.title: measure.higher_is_better for measure in ranking.measures}
    assert directions == {"accuracy": True, "log loss": False}
    assert [reason for _, reason in ranking.left_out] == ["failed: too few rows"]


def test_methods_side_by_side_keep_their_order(page, answer, monkeypatch):
    titles = [method.title for method in page.classes.methods]
    assert titles == [row.title for row in answer.rows]
    assert len(page.classes.methods[0].confusion) == 2
    monkeypatch.setattr(content, "MAX_METHODS", 2)
    assert content._side_by_side(answer) == ["immax", "logistic"]


def test_many_classes_have_no_confusion_matrix(comparison, answer, monkeypatch):
    monkeypatch.setattr(content, "MAX_CONFUSION_CLASSES", 1)
    section = content._classes(comparison, answer)
    assert all(method.confusion == () for method in section.methods)


def test_thresholds_are_shares_of_the_margins(page, pipeline):
    rho = pipeline[-1].margins_
    assert [name for name, _ in page.margins.thresholds] == ["<often>", "rare"]
    assert [value for _, value in page.margins.thresholds] == pytest.approx(
        (rho / np.sum(rho)).tolist()
    )
    assert "Error on the 60 samples" in page.margins.certificate


def test_how_it_was_run(page):
    assert (page.run.folds, page.run.repeats, page.run.seed) == (3, 2, 7)
    assert page.run.command == "immax compare parcels.csv"
    assert "numpy" in page.run.environment


def test_without_immax_there_are_no_margins(comparison, answer, about):
    assert describe_page(comparison, answer, {}, about).margins is None
