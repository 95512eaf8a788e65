"""What the caller knows of columns."""

import pytest

from immax.errors import WrongCall
from immax.tabular import ReadingOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"date_format": "%q"}, "date format"),
        ({"decimal": ";"}, "decimal must be '.' or ','; got ';'"),
        ({"kinds": {"a": "colour"}}, "the kind of 'a' must be one of number, category, date, drop"),
    ],
)
def test_values_that_are_not_known(options, message):
    with pytest.raises(WrongCall, match=message):
        ReadingOptions(**options)
