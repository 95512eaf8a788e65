"""Image data sets in memory-mapped arrays."""

from pathlib import Path

import numpy as np

from immax.datasets.images import PARTS, ImageFiles, data_folder, not_found


def test_what_is_written_is_loaded(tmp_path):
    files = ImageFiles(tmp_path)
    for part, n in zip(PARTS, (3, 2), strict=True):
        files.images(part, (n, 1, 2, 2))[:] = n
        files.write_labels(part, np.arange(n, dtype=np.uint8) % 2)
    files.write_names(["even", "odd"])
    data = files.load("numbers")
    assert (data.X_train == 3).all()
    assert data.X_test.shape == (2, 1, 2, 2)
    assert isinstance(data.X_train, np.memmap)
    assert not data.X_train.flags.writeable
    assert data.y_train.tolist() == [0, 1, 0]
    assert data.y_train.dtype == np.int64
    assert (data.class_names, data.name) == (("even", "odd"), "numbers")


def test_where_data_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path))
    assert data_folder(None) == tmp_path / "downloads"
    assert data_folder("~/data") == Path.home() / "data"


def test_the_error_names_files_and_remedy():
    error = not_found("MNIST", Path("here"), "a and b", "put them there")
    assert str(error).startswith(
        "MNIST is not in here: looked for a and b; put them there, or give"
    )
