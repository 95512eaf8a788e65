"""Pictures for notebooks, and the page as text."""

import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.compare import Answer, Row
from immax.evaluation.metrics import expected_calibration_error
from immax.plots.axes import set_tooltip
from immax.report import (
    ComparisonDisplay,
    MarginsDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    plot_comparison,
    plot_margins,
    plot_precision_recall,
    plot_reliability,
    plot_search,
)
from immax.report.svg import INK, page_style, to_svg

mpl.use("agg")


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X[:, :6]), y


def test_reliability_is_counted_in_bins(ax):
    proba = np.array([[0.9, 0.1]] * 8 + [[0.3, 0.7]] * 4)
    y = np.array([0] * 6 + [1] * 2 + [1, 1, 1, 0])
    display = ReliabilityDisplay.from_predictions(y, proba, bins=10, name="A").plot(ax)
    np.testing.assert_allclose(display.confidence, [0.7, 0.9])
    np.testing.assert_allclose(display.share, [0.75, 0.75])
    np.testing.assert_array_equal(display.count, [4, 8])
    assert display.error == expected_calibration_error(proba, y, 10)
    assert "calibration error" in display.ax_.get_title()


def test_displays_from_estimators(data, ax):
    X, y = data
    model = IMMAXClassifier().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y)
    assert display.count.sum() == len(y)
    assert display.name == "IMMAXClassifier"
    margins = MarginsDisplay.from_estimator(model, np.bincount(y)).plot(ax)
    np.testing.assert_allclose(margins.margins, margins.theory)
    assert margins.figure_ is ax.figure


def test_functions_return_their_axes(data):
    X, y = data
    search = IMMAXClassifierCV(lams=[0.01, 0.1], cv=3).fit(X, y)
    proba = search.predict_proba(X)
    rows = tuple(
        Row(name, name, {"accuracy": 0.9 + gain}, 0.01, gain, gain - 0.02, gain + 0.02, 0.2, 1.0)
        for name, gain in (("immax", 0.01), ("logistic", 0.0))
    )
    answer = Answer("accuracy", rows, "immax", "Take it.")
    drawn = [
        plot_search(search, Figure().subplots()),
        plot_margins(search, np.bincount(y), Figure().subplots()),
        plot_reliability(y, proba, ax=Figure().subplots()),
        plot_precision_recall(y == 0, {"immax": proba[:, 0]}, ax=Figure().subplots()),
        plot_comparison(answer, Figure().subplots()),
    ]
    assert all(ax.get_xlabel() for ax in drawn)
    assert ComparisonDisplay.from_answer(answer).rows == rows
    assert isinstance(plot_comparison(answer).figure, Figure)
    mpl.pyplot.close("all")


def test_precision_and_recall_of_a_class(ax):
    y = np.array([1, 1, 0, 0, 0])
    display = PrecisionRecallDisplay.from_predictions(y, {"a": [0.9, 0.4, 0.5, 0.1, 0.1]})
    assert display.curves["a"][2] == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert display.share == 0.4
    display.plot(ax)


def test_a_picture_becomes_an_element_of_the_page():
    with mpl.rc_context(page_style()):
        figure = Figure()
        ax = figure.subplots()
        set_tooltip(ax.plot([1, 2], [3, 4], "o-")[0], "a <point> & more")
        ax.imshow(np.eye(2))
        text = to_svg(figure, "one", "What is seen.")
        other = to_svg(figure, "two", "What is seen.")
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "What is seen."
    titles = [e.text for e in root.iter() if e.tag.endswith("title")]
    assert titles == ["a <point> & more"]
    assert INK not in text
    assert "currentColor" in text
    assert "data:image/png" in text
    ids = [
        {e.get("id") for e in ElementTree.fromstring(one).iter()} - {None} for one in (text, other)
    ]
    assert ids[0]
    assert not ids[0] & ids[1]
    for one in ids[0]:
        assert f"#{one}" in text  # nothing but what is referred to keeps an id


def test_estimators_show_themselves_in_notebooks():
    assert "IMMAXClassifier" in IMMAXClassifier()._repr_html_()
    assert "<style" in IMMAXClassifierCV()._repr_html_()
