"""JSON lines."""

import pytest

from immax.tabular.cells import MixedCells
from immax.tabular.table_files import open_table


def test_values_have_types_and_missing_keys_are_missing_values(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": "01"}\n\n{"a": null}\n{"b": "x", "c": [1]}\n')
    file = open_table(path)
    assert file.names == ("a", "b", "c")
    assert file.declared
    found = file.cells()
    assert found["a"].to_pylist() == [1, None, None]
    assert found["b"].to_pylist() == ["01", None, "x"]
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n{"a": "x"}\n')
    assert isinstance(open_table(tmp_path / "b.jsonl").cells()["a"], MixedCells)


def test_expected_names_may_come_late(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n{"c": 3}\n')
    assert open_table(path, ["b"]).names == ("a", "b")
    chunks = [cells["b"].to_pylist() for _, cells in open_table(path, ["b"]).chunks(1)]
    assert chunks == [[None], [2], [None]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n[1]\n', "every line must be an object; line 2"),
        ('{"a": 1, "a": 2}\n', "line 1: an object has the key 'a' more than once"),
        ('{"a": ', "cannot be read as JSON lines: line 1"),
        ("\n \n", "is empty"),
        ("{}\n", "is empty"),
        ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "cannot be read as JSON lines"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(ValueError, match=message):
        open_table(tmp_path / "a.jsonl").cells()
