"""Labels and their codes."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold

from immax import IMMAXSVC, IMMAXSVCCV, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import DecisionClassifierCV
from immax.validation import (
    canonical_rows,
    check_flags,
    check_group_splitter,
    check_no_path,
    check_whole,
    class_codes,
)

LABELS = {
    "int8 from end to end": np.array([-128, 127, 5, -128] * 100, np.int8),
    "uint8": np.array([255, 0, 7], np.uint8),
    "few and far between": np.array([-(2**62), 2**62, 0]),
    "uint64": np.array([2**63 + 5, 2**63 + 1, 2**63 + 5], np.uint64),
    "bool": np.array([True, False, True]),
    "float": np.array([2.0, 1.0, 2.0]),
    "text": np.array(["b", "a", "b"]),
    "objects": np.array(["b", "a", "c"], dtype=object),
}


@pytest.mark.parametrize("name", LABELS)
def test_codes_are_those_of_sorted_classes(name):
    y = LABELS[name]
    classes, codes = class_codes(y)
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert classes.tolist() == expected.tolist()
    assert codes.tolist() == inverse.tolist()


@pytest.mark.parametrize("y", [np.ones(3, int), np.array(["a", "a"])])
def test_one_class_is_refused(y):
    with pytest.raises(ValueError, match="at least two classes"):
        class_codes(y)


def test_numbers_with_fractions_are_refused():
    with pytest.raises(ValueError, match="continuous"):
        class_codes(np.array([0.5, 1.5, 2.25]))


@pytest.mark.parametrize("kind", [IMMAXClassifier, BaselineClassifier, IMMAXClassifierCV, IMMAXSVC])
@pytest.mark.parametrize("path", ["folder", Path("folder")])
def test_a_path_is_no_table(kind, path):
    reads_files = kind in (IMMAXClassifier, IMMAXClassifierCV)
    refused = "folder" if reads_files else "'folder'.*IMMAXClassifierCV can be fitted"
    with pytest.raises(FileNotFoundError if reads_files else TypeError, match=refused):
        kind().fit(path, "y")
    with pytest.raises(TypeError, match=r"'folder'.*IMMAXClassifierCV can be fitted"):
        DecisionClassifierCV(IMMAXClassifier(), "f1").fit(path, "y")
    model = kind().fit(np.arange(40.0)[:, None], np.arange(40) % 3 > 0)
    with pytest.raises(TypeError, match="got the path 'folder'"):
        model.predict(path)
    check_no_path(np.ones(3))


@pytest.mark.parametrize("value", [True, False, 1, 0, np.True_])
def test_flags(value):
    check_flags(first=True, second=value)


@pytest.mark.parametrize("value", ["false", "", None, np.nan, 2, [True]])
def test_what_is_no_flag(value):
    X, y = np.arange(40.0)[:, None], np.arange(40) % 3 > 0
    names = {
        IMMAXClassifier: ("fit_intercept", "warm_start", "use_radii"),
        BaselineClassifier: ("fit_intercept",),
        IMMAXClassifierCV: ("fit_intercept", "use_radii"),
        IMMAXSVC: ("calibrated", "use_radii"),
        IMMAXSVCCV: ("use_radii",),
    }
    for kind, flags in names.items():
        for name in flags:
            with pytest.raises(ValueError, match=f"{name} must be True or False"):
                kind(**{name: value}).fit(X, y)


@pytest.mark.parametrize("value", [0, -1, 2.5, np.inf, np.nan, "3", None, [3]])
@pytest.mark.parametrize("name", ["n_margins", "budget"])
def test_whole_numbers(name, value):
    check_whole(name, 3.0)
    with pytest.raises(ValueError, match=f"{name} must be a positive whole number"):
        IMMAXClassifierCV(**{name: value}).fit(np.arange(40.0)[:, None], np.arange(40) % 2)


@pytest.mark.parametrize("value", ["1", None, np.nan])
def test_evidence_is_a_number(value):
    with pytest.raises(ValueError, match="evidence must be from 0 to 1"):
        IMMAXClassifierCV(evidence=value).fit(np.arange(40.0)[:, None], np.arange(40) % 2)


@pytest.mark.parametrize("cv", [3, np.int64(3), None])
def test_groups_are_not_ignored_by_counted_folds(cv):
    check_group_splitter(cv, None)
    with pytest.raises(ValueError, match=r"StratifiedGroupKFold\([35]\); got cv="):
        check_group_splitter(cv, [0, 0, 1])
    check_group_splitter(StratifiedGroupKFold(3), [0, 0, 1])


def test_rows_have_one_entry_for_each_place():
    indices, indptr = np.array([1, 0, 1], np.int64), np.array([0, 3, 3], np.int64)
    X = sparse.csr_array((np.array([2.0, 1.0, 3.0]), indices, indptr), shape=(2, 2))
    rows = canonical_rows(X)
    assert rows.data.tolist() == [1.0, 5.0]
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert X.data.tolist() == [2.0, 1.0, 3.0]
    assert canonical_rows(rows) is rows
    dense = np.ones((2, 2))
    assert canonical_rows(dense) is dense
