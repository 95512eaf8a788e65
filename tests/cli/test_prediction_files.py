"""Files of predictions."""

import io
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from immax.cli.prediction_files import output_format, write_chunks, write_text_chunks
from immax.errors import WrongCall

CHUNKS = [pd.DataFrame({"y": ["a", "=1+1"]}), pd.DataFrame({"y": ["@b"]})]
TYPES = pa.schema([("y", pa.string())])


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (None, "csv"),
        ("a.csv", "csv"),
        ("a.tsv.gz", "tsv"),
        ("a.ndjson", "json lines"),
        ("a.pq", "parquet"),
        ("a.feather", "feather"),
    ],
)
def test_the_ending_tells_the_format(name, form):
    assert output_format(None if name is None else Path(name), False) == form


@pytest.mark.parametrize("name", ["a", "a.xlsx", "a.txt", "a.parquet.gz", "a.skops"])
def test_unknown_endings(name):
    with pytest.raises(WrongCall, match="must end in"):
        output_format(Path(name), False)


def test_contradictions():
    assert output_format(None, True) == "json lines"
    assert output_format(Path("a.jsonl"), True) == "json lines"
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(WrongCall, match="--json contradicts the ending"):
            output_format(Path(name), True)
    with pytest.raises(WrongCall, match="--spreadsheet is for CSV and TSV"):
        output_format(Path("a.parquet"), False, True)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.xz", "a.tsv", "a.jsonl.gz", "a.parquet", "a.feather"]
)
@pytest.mark.parametrize("chunks", [CHUNKS, [pd.DataFrame({"y": []})]])
def test_what_is_written_is_read(tmp_path, name, chunks):
    from immax.tabular.table_files import open_table

    out = tmp_path / name
    part = tmp_path / "part"
    write_chunks(iter(chunks), part, out, output_format(out, False), TYPES)
    part.rename(out)
    rows = [value for chunk in chunks for value in chunk["y"]]
    if "jsonl" in name and not rows:
        return  # an empty file
    assert open_table(out).names == ("y",)
    assert open_table(out).cells()["y"].to_pylist() == rows


def test_formulas_are_neutralised():
    file = io.StringIO()
    write_text_chunks(iter(CHUNKS), file, "csv", spreadsheet=True)
    assert file.getvalue() == "y\na\n'=1+1\n'@b\n"
    file = io.StringIO()
    chunk = pd.DataFrame({"=y": [-1, 2]})
    write_text_chunks(iter([chunk]), file, "tsv", spreadsheet=True)
    assert file.getvalue() == "'=y\n-1\n2\n"
