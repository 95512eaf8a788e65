"""Stored results of folds."""

import numpy as np
import pytest

from immax.compare.fold_cache import FoldCache, FoldResult

RESULT = FoldResult(
    np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0, 1]]), 1.5, {"lam": 0.1}
)


@pytest.mark.parametrize("proba", [None, RESULT.proba])
def test_what_is_saved_is_loaded(tmp_path, proba):
    cache = FoldCache(tmp_path, "abc")
    cache.save("immax", 3, FoldResult(RESULT.labels, proba, RESULT.seconds, RESULT.chosen))
    loaded = FoldCache(tmp_path, "abc").load("immax", 3)
    np.testing.assert_array_equal(loaded.labels, RESULT.labels)
    if proba is None:
        assert loaded.proba is None
    else:
        np.testing.assert_array_equal(loaded.proba, proba)
    assert (loaded.seconds, loaded.chosen) == (1.5, {"lam": 0.1})
    assert [path.name for path in tmp_path.rglob("*.npz")] == ["immax-3.npz"]
    assert not list(tmp_path.rglob("*.part"))


def test_other_methods_folds_and_identities_are_not_found(tmp_path):
    FoldCache(tmp_path, "abc").save("immax", 3, RESULT)
    assert FoldCache(tmp_path, "abc").load("immax", 2) is None
    assert FoldCache(tmp_path, "abc").load("ce", 3) is None
    assert FoldCache(tmp_path, "abd").load("immax", 3) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive at all"])
def test_damaged_files_count_as_missing(tmp_path, content):
    cache = FoldCache(tmp_path, "abc")
    cache.save("immax", 0, RESULT)
    path = next(tmp_path.rglob("*.npz"))
    whole = path.read_bytes()
    for damaged in (content, whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        assert cache.load("immax", 0) is None


def test_without_a_folder_nothing_is_stored():
    cache = FoldCache(None, "abc")
    cache.save("immax", 0, RESULT)
    assert cache.load("immax", 0) is None


@pytest.mark.parametrize("shape", [(2, 2), (4, 2), (3, 3)])
def test_arrays_of_another_size_are_no_result(tmp_path, shape):
    result = FoldResult(np.array([0, 1, 1]), np.full((3, 2), 0.5), 1.0, {})
    FoldCache(tmp_path, "abc").save("ce", 0, result)
    assert FoldCache(tmp_path, "abc", [(3, 2)]).load("ce", 0) is not None
    assert FoldCache(tmp_path, "abc", [shape]).load("ce", 0) is None


@pytest.mark.parametrize("labels", [np.array([0, 1, 2]), np.array([0, -1, 1]), np.zeros(3)])
def test_labels_that_are_not_codes_are_no_result(tmp_path, labels):
    FoldCache(tmp_path, "abc").save("ce", 0, FoldResult(labels, None, 1.0, {}))
    assert FoldCache(tmp_path, "abc", [(3, 2)]).load("ce", 0) is None
