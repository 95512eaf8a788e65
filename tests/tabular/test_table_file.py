"""Tables in files, whatever their format."""

from pathlib import Path

import pyarrow as pa
import pytest

from immax.tabular.cells import MixedCells, as_cells
from immax.tabular.table_file import TableFile, batch_cells, named_errors, unique_names


def table(*parts):
    def read(rows):
        for part in parts:
            yield len(part), {"a": part}

    return TableFile(Path("t"), "a table", ("a",), (), True, read)


def test_parts_are_joined():
    assert table(pa.array([1]), pa.array([2])).cells()["a"].to_pylist() == [1, 2]
    assert table(pa.array([1]), pa.array([2.5])).cells()["a"].to_pylist() == [1, 2.5]
    assert table(pa.array([1]), pa.nulls(1)).cells()["a"].to_pylist() == [1, None]
    assert isinstance(table(pa.array([1]), pa.array(["x"])).cells()["a"], MixedCells)
    assert isinstance(table(as_cells(["x", 1]), pa.array(["y"])).cells()["a"], MixedCells)
    assert len(table().cells()["a"]) == 0


def test_names_are_numbered():
    assert unique_names(["a", "a", "a.1", "a"]) == (("a", "a.2", "a.1", "a.3"), ("a",))
    assert unique_names(["a", "b"]) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pa.ArrowInvalid("bad\nworse"), "t.csv cannot be read as a table: bad$"),
        (EOFError(), r"t.csv cannot be read as a table: EOFError\(\)"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), "t.csv must be text in UTF-8"),
        (pa.ArrowInvalid("invalid UTF8 data"), "t.csv must be text in UTF-8"),
    ],
)
def test_errors_name_the_file(error, message):
    with pytest.raises(ValueError, match=message), named_errors(Path("t.csv"), "a table"):
        raise error


def test_batches_by_name():
    batch = pa.record_batch({"x": [1], "y": ["b"]})
    n, cells = batch_cells(batch, ["a", "b"])
    assert n == 1
    assert cells["b"].to_pylist() == ["b"]
