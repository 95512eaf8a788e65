"""Formats of numbers in text files."""

import numpy as np
import pyarrow as pa
import pytest

from immax.tabular.number_formats import (
    AmbiguousFormat,
    NumberFormat,
    infer_number_format,
    number_share,
)


@pytest.mark.parametrize(
    ("cells", "form", "values"),
    [
        (["1", " -2.5 ", "+3e2", ".5", "7."], NumberFormat(), [1, -2.5, 300, 0.5, 7]),
        (["1,5", "0,25", "-3"], NumberFormat(","), [1.5, 0.25, -3]),
        (["1,234.5", "12,345,678", "7"], NumberFormat(".", ","), [1234.5, 12345678, 7]),
        (["1.234,5", "12.345.678"], NumberFormat(",", "."), [1234.5, 12345678]),
        (["1'234.5", "2’000’000"], NumberFormat(".", "'"), [1234.5, 2e6]),
        (["1 234,5", "2\u00a0000\u202f000,25"], NumberFormat(",", " "), [1234.5, 2000000.25]),
        (["$1,200.50", "-$3", "($4.5)", "7"], NumberFormat(".", ",", "$"), [1200.5, -3, -4.5, 7]),
        (["1,50 €", "22 €"], NumberFormat(",", "", "€"), [1.5, 22]),
        (["USD 5", "6.5 USD"], NumberFormat(sign="USD"), [5, 6.5]),
        (["12.5%", "3 %"], NumberFormat(sign="%"), [0.125, 0.03]),
        (["inf", "-Infinity", "1"], NumberFormat(), [np.inf, -np.inf, 1]),
    ],
)
def test_formats_are_recognised_and_read(cells, form, values):
    array = pa.array(cells)
    assert infer_number_format(array) == form
    np.testing.assert_allclose(form.parse(array).to_numpy(zero_copy_only=False), values)
    assert number_share(pa.array([c for c in cells if "nf" not in c])) == 1
    assert NumberFormat.from_dict(form.to_dict()) == form
    assert form.is_plain == (form == NumberFormat())


@pytest.mark.parametrize(
    "cells",
    [
        ["01", "02"],  # codes
        ["1", "007"],
        ["a", "1"],
        ["$1", "€2"],  # two currencies
        ["5%", "6"],  # are six per cent meant?
        ["1.2.3", "4"],
        ["0.5", "1.234.567"],
        ["1,23,4", "5"],
    ],
)
def test_other_cells_are_not_numbers(cells):
    assert infer_number_format(pa.array(cells)) is None


def test_a_comma_before_three_digits_is_ambiguous():
    cells = pa.array(["1,234", "5,678", "12"])
    with pytest.raises(AmbiguousFormat, match="--decimal"):
        infer_number_format(cells)
    assert infer_number_format(cells, ",") == NumberFormat(",")
    assert infer_number_format(cells, ".") == NumberFormat(".", ",")
    assert infer_number_format(pa.array(["1.234", "5"]), ",") == NumberFormat(",", ".")
    assert infer_number_format(pa.array(["1.5", "5"]), ",") is None


def test_cells_of_another_format_are_null():
    assert NumberFormat(",").parse(pa.array(["1,5", "1.5", "x", None])).to_pylist() == [
        1.5,
        None,
        None,
        None,
    ]
    assert NumberFormat(sign="%").parse(pa.array(["5%", "5"])).to_pylist() == [0.05, None]


@pytest.mark.parametrize("content", [{"decimal": "x"}, {"thousands": "."}, {"sign": "(.*)"}])
def test_a_format_of_a_file_is_checked(content):
    with pytest.raises(ValueError, match="not a number format"):
        NumberFormat.from_dict(content)
