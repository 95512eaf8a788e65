"""Files of a folder, and what their metadata say."""

import pandas as pd
import pytest

from immax.distributed.parquet_files import count_rows, decoded_bytes, list_parquet_files


def test_files_of_a_folder(tmp_path):
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
