"""Figures as elements of the page."""

from io import BytesIO
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from immax.plots.axes import set_tooltip
from immax.report.svg import INK, page_style, to_svg


@pytest.fixture(scope="module")
def elements():
    with mpl.rc_context(page_style()):
        figure = Figure()
        ax = figure.subplots()
        set_tooltip(ax.plot([1, 2], [3, 4], "o-")[0], "a <point> & more")
        ax.imshow(np.eye(2))
        return [to_svg(figure, name, "What is seen.") for name in ("one", "two")]


def test_the_element_has_a_role_and_a_description(elements):
    root = ElementTree.fromstring(elements[0])
    assert root.get("role") == "img"
    assert root.get("aria-label") == "What is seen."
    assert root.get("class") == "figure"
    assert root.get("width") is None
    assert root.get("viewBox")
    assert not [child for child in root if child.tag.endswith("metadata")]


def test_tooltips_become_titles(elements):
    root = ElementTree.fromstring(elements[0])
    parts = [part for part in root.iter() if part.get("class") == "has-tooltip"]
    assert [part[0].text for part in parts] == ["a <point> & more"]
    assert parts[0][0].tag.endswith("title")


def test_text_has_the_colour_of_the_page_and_images_stay(elements):
    assert INK not in elements[0]
    assert "currentColor" in elements[0]
    assert "data:image/png" in elements[0]


def test_ids_are_unique_on_the_page_and_all_are_referred_to(elements):
    ids = [
        {part.get("id") for part in ElementTree.fromstring(text).iter()} - {None}
        for text in elements
    ]
    assert ids[0]
    assert not ids[0] & ids[1]
    for name in ids[0]:
        assert f"#{name}" in elements[0]


def test_axes_are_where_savefig_puts_them():
    """Which draws everything twice for it."""

    def arranged():
        figure = Figure(figsize=(4, 3), layout="constrained")
        for ax in figure.subplots(1, 2):
            ax.plot([1000, 2000], [3, 4])
            ax.set_ylabel("a tall label\nof two lines")
        return figure

    with mpl.rc_context(page_style()):
        own, other = arranged(), arranged()
        to_svg(own, "one", "What is seen.")
        other.savefig(BytesIO(), format="svg")
    for here, there in zip(own.axes, other.axes, strict=True):
        assert here.get_position().bounds == there.get_position().bounds
        assert here.get_position().bounds != Figure().subplots(1, 2)[0].get_position().bounds
