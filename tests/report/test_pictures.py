"""The pictures of the page, and their descriptions."""

from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np

from immax.report import pictures
from immax.report.pictures import (
    draw_comparison,
    draw_margins,
    draw_precision_recall,
    draw_reliability,
    draw_search,
)


def tooltips(picture):
    root = ElementTree.fromstring(picture.svg)
    assert root.get("aria-label") == picture.text
    return [part.text for part in root.iter() if part.tag.endswith("title")]


def test_a_point_for_each_method(answer):
    picture = draw_comparison(answer)
    assert "Gain in accuracy" in picture.text
    assert "for 3 methods. The best is IMMAX logistic with +0.0500" in picture.text
    assert [text.split(":")[0] for text in tooltips(picture)] == [row.title for row in answer.rows]


def test_methods_without_probabilities_have_no_diagram(comparison, answer):
    reliability = draw_reliability(comparison, answer)
    assert "IMMAX logistic 0." in reliability.text
    assert "linear SVM" not in reliability.text
    curves = draw_precision_recall(comparison, answer)
    assert "rarest class, rare" in curves.text
    assert len(tooltips(curves)) == 2


def test_the_best_calibrated_come_first_and_not_all(comparison, answer, monkeypatch):
    text = draw_reliability(comparison, answer).text
    errors = [float(part.split()[-1].rstrip(".")) for part in text.split("method: ")[1].split(", ")]
    assert errors == sorted(errors)
    monkeypatch.setattr(pictures, "MAX_DIAGRAMS", 1)
    assert draw_reliability(comparison, answer).text.count(",") == text.count(",") - 1


def test_without_probabilities_there_are_no_pictures(comparison, answer):
    labels_only = SimpleNamespace(
        counts=comparison.counts,
        class_names=comparison.class_names,
        pooled=lambda name: (*comparison.pooled(name)[:2], None),
    )
    assert draw_reliability(labels_only, answer) is None
    assert draw_precision_recall(labels_only, answer) is None


def test_the_search_has_a_cell_for_each_candidate(pipeline):
    search = pipeline[-1]
    picture = draw_search(search)
    assert f"power {search.best_parameters_[0]:.3f}" in picture.text
    table = search.cv_results_
    cells = {(point, lam) for point, lam in zip(
        table["param_parameters"], table["param_lam"], strict=True
    )}  # fmt: skip
    assert len(tooltips(picture)) == len(cells)


def test_margins_are_relative_to_equal_ones(pipeline, comparison):
    search = pipeline[-1]
    picture = draw_margins(search, comparison.counts)
    own = search.margins_ / np.mean(search.margins_)
    assert f"rare {own[1]:.2f}, theory" in picture.text
    assert tooltips(picture)[0].startswith(f"<often>: margin {own[0]:.2f}, equal 1.00, theory")


def test_pictures_are_the_same_every_time(answer):
    assert draw_comparison(answer) == draw_comparison(answer)
