"""What the page shows, before it is HTML."""

import pytest

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


def test_how_it_was_run(page):
    assert (page.run.folds, page.run.repeats, page.run.seed) == (3, 2, 7)
    assert page.run.command == "immax compare parcels.csv"
    assert "numpy" in page.run.environment


def test_without_immax_there_are_no_margins(comparison, answer, about):
    assert describe_page(comparison, answer, {}, about).margins is None
