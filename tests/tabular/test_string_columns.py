"""What columns of strings hold."""

import pyarrow as pa
import pytest

from immax.tabular import ReadingOptions, SchemaError
from immax.tabular.string_columns import describe_strings


def describe(cells, declared=False, name="x", **options):
    return describe_strings(name, pa.array(cells), ReadingOptions(**options), declared=declared)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", "NA", ""], "number"),
        (["1,5 €", "2,25 €"], "number"),
        (["01", "02", "03"], "category"),
        (["1", "2", "A1"], "category"),
        (["True", "false", "TRUE", ""], "boolean"),
        (["t", "f"], "boolean"),
        (["yes", "no"], "category"),
        (["2020-01-01", "2020-02-30"], "category"),
        (["2020-01-01", "2020-02-28"], "date"),
        (["NA", "", "null"], "constant"),
        (["a", "a", ""], "constant"),
        (["a", "NA", ""], "category"),
    ],
)
def test_kinds(cells, kind):
    assert describe(cells).kind == kind


def test_digits_that_were_declared_to_be_strings_are_categories():
    assert describe(["1", "2", "1"], declared=True).kind == "category"
    assert describe(["1,5", "2,5", "1,5"], declared=True).kind == "number"
    # Too many to be categories.
    assert describe([str(i * 7) for i in range(50)], declared=True).kind == "number"


def test_marks_of_missing_values_are_recognised_and_stored():
    column = describe(["1", "2", "?", "-"])
    assert column.kind == "number"
    assert set(column.missing[-2:]) == {"?", "-"}
    assert describe(["2020-01-01", "2020-01-02", "unknown"]).kind == "date"


def test_categories_are_stored_as_they_are_written():
    column = describe(["b", " a", "01", "", "NA"])
    assert column.categories == (" a", "01", "NA", "b")
    assert column.missing == ("",)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([f"{i}.5" for i in range(60)] + ["abc"], "holds numbers in .* there is 'abc'.*x=drop"),
        ([f"{i}$" for i in range(40)] + [f"{i}€" for i in range(40)], "holds numbers in 100%"),
        (
            [f"2020-01-{i % 28 + 1:02d} {i % 24:02d}:{i % 60:02d}" for i in range(70)] + ["soon"],
            "holds dates in",
        ),
        (["03/04/2021", "05/06/2021"], "'x' is unclear: dates such as .*--date-format"),
        (["1,234", "2,345"], "'x' is unclear: cells such as '1,234' .*--decimal"),
    ],
)
def test_what_is_unclear_is_refused_by_name(cells, message):
    with pytest.raises(SchemaError, match=message):
        describe(cells)


def test_chosen_kinds():
    cells = [f"{i}.5" for i in range(60)] + ["abc"]
    column = describe(cells, kinds={"x": "number"})
    assert (column.kind, column.missing[-1]) == ("number", "abc")
    assert describe(cells, kinds={"x": "category"}).kind == "category"
    days = ["03/04/2021", "05/06/2021"]
    assert describe(days, date_format="%d/%m/%Y").date_format == "%d/%m/%Y"
    assert describe(days, kinds={"x": "category"}).kind == "category"
    with pytest.raises(SchemaError, match="holds no numbers, but 'a'"):
        describe(["a", "b"], kinds={"x": "number"})
    with pytest.raises(SchemaError, match="not dates of one known format"):
        describe(["a", "b"], kinds={"x": "date"})


def test_texts_and_identifiers():
    long = "so many words that nobody will ever read all of them, and "
    assert describe([long + str(i % 3) for i in range(30)]).kind == "text"
    assert describe([f"{i * 7919 % 100003:05d}x" for i in range(60)]).kind == "id"
    assert describe([f"{i * 7:05d}" for i in range(60)]).kind == "id"  # with leading zeros
