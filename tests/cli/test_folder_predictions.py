"""Which outputs are folders."""

from immax.cli.folder_predictions import is_folder_output


def test_folders_for_folders(tmp_path):
    assert is_folder_output(tmp_path, tmp_path / "out")
    assert not is_folder_output(tmp_path, tmp_path / "out.parquet")
    assert not is_folder_output(tmp_path, tmp_path / "out.csv.gz")
    assert not is_folder_output(tmp_path, None)
    assert not is_folder_output(tmp_path / "table.parquet", tmp_path / "out")
