"""Files that are not overwritten, and files that cannot be written."""

from pathlib import Path

import pytest

from immax.cli.output_files import check_model_output, check_output
from immax.errors import WrongCall


def test_inputs_are_not_overwritten(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(table)
    (tmp_path / "folder").mkdir()
    for out in (table, tmp_path / "folder" / ".." / "a.csv", tmp_path / "link.csv"):
        with pytest.raises(WrongCall, match="would be overwritten"):
            check_output(out, [table])
    with pytest.raises(WrongCall, match="is in the folder that the command reads"):
        check_output(tmp_path / "folder" / "new" / "x.csv", [tmp_path / "folder"])
    assert table.read_text() == "a\n1\n"


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(WrongCall, match=r"standard output \(-\)"):
        check_output(Path("-"))
    with pytest.raises(WrongCall, match="is a folder"):
        check_output(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"x.csv cannot be written"):
        check_output(tmp_path / "file" / "x.csv")
    check_output(tmp_path / "new.csv", [tmp_path / "none.csv"])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_models_are_not_named_like_tables(tmp_path):
    for name in ("model.csv", "model.parquet", "model.jsonl.gz"):
        with pytest.raises(WrongCall, match=r"model files end in .skops"):
            check_model_output(tmp_path / name, tmp_path / "a.csv")
    check_model_output(tmp_path / "model", tmp_path / "a.csv")
