"""Files of a folder, and what their metadata say."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from immax.distributed.parquet_files import (
    count_rows,
    decoded_bytes,
    find_clashes,
    folder_values,
    list_parquet_files,
)


def test_files_of_a_folder(tmp_path, monkeypatch):
    for name in ("b.parquet", "a.pq", "deep/c.parquet", "_hidden.parquet", ".d/e.parquet", "x.csv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pd.DataFrame({"x": [1.0, 2.0]}).to_parquet(path)
    files = list_parquet_files(tmp_path)
    assert [file.name for file in files] == ["a.pq", "b.parquet", "c.parquet"]
    assert list_parquet_files(files[0]) == [files[0]]
    assert count_rows(files) == 6
    assert 48 <= decoded_bytes(files) < 1000
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no Parquet files"):
        list_parquet_files(tmp_path / "empty")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file or folder ''"):
        list_parquet_files("")


def test_values_of_folders():
    file = Path("t/k=a%2Fb/plain/day=__HIVE_DEFAULT_PARTITION__/f=g.parquet")
    assert folder_values(file, Path("t")) == {"k": "a/b", "day": None}
    assert folder_values(Path("k=p/x.parquet"), Path("k=p")) == {}


def test_columns_of_two_kinds_are_found():
    first = pa.schema([("a", pa.int64()), ("b", pa.int32()), ("c", pa.null()), ("d", pa.string())])
    words = pa.dictionary(pa.int32(), pa.string())
    second = pa.schema([("d", words), ("a", pa.string()), ("b", pa.float64()), ("c", pa.date32())])
    clashes = find_clashes({Path("1.pq"): first, Path("2.pq"): second})
    assert clashes == {"a": "holds int64 in 1.pq, but string in 2.pq"}
