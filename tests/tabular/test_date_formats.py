"""Formats of dates in text files."""

import numpy as np
import pyarrow as pa
import pytest

from immax.errors import WrongCall
from immax.tabular.date_formats import (
    FORMATS,
    check_date_format,
    date_share,
    infer_date_format,
    parse_dates,
)
from immax.tabular.number_formats import AmbiguousFormat


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_reads_what_python_writes(form):
    days = np.arange(np.datetime64("1999-12-25"), np.datetime64("2000-03-05"))
    cells = pa.array([day.item().strftime(form) for day in days])
    np.testing.assert_array_equal(parse_dates(cells, form), days)
    assert infer_date_format(cells) == form


def test_times_and_zones():
    cells = pa.array(
        [
            "2020-02-29",
            "2020-02-29T12:30",
            "2020-02-29 12:30:15.25",
            "2020-02-29T12:30:00Z",
            "2020-02-29 12:30:00+02:00",
            "2020-02-29 12:30:00-0130",
        ]
    )
    expected = [
        "2020-02-29",
        "2020-02-29T12:30",
        "2020-02-29T12:30:15.25",
        "2020-02-29T12:30",
        "2020-02-29T10:30",
        "2020-02-29T14:00",
    ]
    np.testing.assert_array_equal(
        parse_dates(cells, "%Y-%m-%d"), np.array(expected, "datetime64[us]")
    )


@pytest.mark.parametrize(
    "cell", ["2021-02-29", "2021-13-01", "2021-00-10", "21-1-1", "x", "", None]
)
def test_what_is_not_a_date_is_not_a_time(cell):
    assert np.isnat(parse_dates(pa.array([cell], pa.string()), "%Y-%m-%d")).all()


def test_days_and_months_are_told_apart_by_all_cells_or_not_at_all():
    assert infer_date_format(pa.array(["03/04/2021", "13/04/2021"])) == "%d/%m/%Y"
    assert infer_date_format(pa.array(["03/04/2021", "03/14/2021"])) == "%m/%d/%Y"
    assert infer_date_format(pa.array(["13/04/2021", "03/14/2021"])) is None
    with pytest.raises(AmbiguousFormat, match=r'"%d/%m/%Y" or --date-format "%m/%d/%Y"'):
        infer_date_format(pa.array(["03/04/2021", "12/11/2021"]))


@pytest.mark.parametrize("form", ["%d/%m", "%q", "%d/%m/%Y %y", "day", "%d/%m/%Y %", "%Y %d %m %d"])
def test_formats_that_are_not_understood(form):
    with pytest.raises(WrongCall, match="date format"):
        check_date_format(form)


def test_what_looks_like_dates():
    assert date_share(pa.array(["1/2/2020", "2020-01-01 12:00", "soon", "x"])) == 0.5
