"""Formats by their endings."""

from pathlib import Path

import pytest

from immax.errors import WrongCall
from immax.tabular.table_files import file_format, open_table


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.csv", "text"),
        ("a.b.TSV.gz", "text"),
        ("a.ndjson.xz", "json lines"),
        ("a.PQ", "parquet"),
        ("a.feather", "feather"),
    ],
)
def test_endings(name, form):
    assert file_format(Path(name))[0] == form


@pytest.mark.parametrize("name", ["a", "a.xlsx", "a.parquet.gz", "a.gz", "csv"])
def test_unknown_endings(name):
    with pytest.raises(WrongCall, match=r"must end in .csv, .tsv"):
        file_format(Path(name))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("-", r"standard input \(-\) is not supported"),
        ("https://example.org/a.csv", "a URL is not supported"),
        (Path("https://example.org/a.csv"), "a URL is not supported"),
        (Path("s3://bucket/a.parquet"), "a URL is not supported"),
    ],
)
def test_what_is_not_a_file(path, message):
    with pytest.raises(WrongCall, match=message):
        open_table(path)


def test_a_folder_without_parquet_files(tmp_path):
    with pytest.raises(WrongCall, match="holds no Parquet files"):
        open_table(tmp_path)
