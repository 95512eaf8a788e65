"""Options of commands that read a table for training."""

import pytest

from immax.cli.table_options import reading_options
from immax.errors import WrongCall


def test_options():
    options = reading_options("%d/%m/%Y", ",", ["a=b=category", "c=drop"])
    assert options.date_format == "%d/%m/%Y"
    assert options.decimal == ","
    assert options.kinds == {"a=b": "category", "c": "drop"}


@pytest.mark.parametrize("text", ["zip", "=drop", "zip=zebra"])
def test_kinds_that_are_not_understood(text):
    with pytest.raises(WrongCall, match="kind"):
        reading_options(None, None, [text])
