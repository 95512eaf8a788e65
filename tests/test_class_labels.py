"""Values per class by label."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from immax import BaselineClassifier, IMMAXClassifier
from immax.class_labels import by_label, check_class_order, check_unlabelled
from immax.class_vectors import in_class_order
from immax.links import decide
from immax.margins import theory_margins

NAMES = np.array(["rose", "aster", "lily"])
LABELS = np.repeat(NAMES, [2, 5, 9])
COUNTS = pd.Series(LABELS).value_counts()  # in the order of frequency


def test_a_series_is_a_dict_by_label_unless_its_index_is_the_default_one():
    assert by_label(COUNTS) == {"lily": 9, "aster": 5, "rose": 2}
    for values in (pd.Series([3.0, 1.0]), [3.0, 1.0], {"a": 1}, "theory", None):
        assert by_label(values) is values
    with pytest.raises(ValueError, match="each label once"):
        by_label(pd.Series([1, 2], index=["a", "a"]))


def test_the_order_of_the_classes():
    check_class_order(COUNTS.sort_index(), "counts")
    check_class_order([3, 1, 2], "counts")
    with pytest.raises(TypeError, match=r"counts must be in the order.*\['lily', 'aster', 'rose'"):
        check_class_order(COUNTS, "counts")
    with pytest.raises(TypeError, match=r"counts.sort_index\(\)"):
        theory_margins(COUNTS)
    expected = theory_margins([5, 9, 2])
    np.testing.assert_array_equal(theory_margins(COUNTS.sort_index()), expected)


def test_dicts_in_the_order_of_the_classes():
    classes = np.unique(LABELS)
    assert in_class_order(by_label(COUNTS), classes, "counts", "count") == [5, 9, 2]
    with pytest.raises(ValueError, match=r"classes without a count: \['rose'\]"):
        in_class_order({"aster": 1, "lily": 2}, classes, "counts", "count")


@pytest.mark.parametrize("name", ["margins", "weights"])
def test_margins_and_weights_by_a_series(name):
    X, y = load_iris(return_X_y=True)
    by_name = {"lily": 3.0, "aster": 2.0, "rose": 1.0}
    series = IMMAXClassifier(**{name: pd.Series(by_name)}).fit(X, NAMES[y])
    expected = IMMAXClassifier(**{name: by_name}).fit(X, NAMES[y])
    assert getattr(series, f"{name}_").tolist() == [2.0, 3.0, 1.0]
    np.testing.assert_array_equal(series.coef_, expected.coef_)
    unlabelled = IMMAXClassifier(**{name: pd.Series([2.0, 3.0, 1.0])}).fit(X, NAMES[y])
    np.testing.assert_array_equal(unlabelled.coef_, expected.coef_)
    with pytest.raises(ValueError, match=r"unknown labels: \['violet'\]"):
        IMMAXClassifier(**{name: pd.Series({**by_name, "violet": 1})}).fit(X, NAMES[y])


def test_costs_with_labels_are_refused():
    costs = pd.Series({"lily": 3.0, "aster": 2.0, "rose": 1.0})
    proba = np.full((2, 3), 1 / 3)
    with pytest.raises(TypeError, match=r"costs with labels of their own.*'lily', 'aster'"):
        decide(proba, costs)
    X, y = load_iris(return_X_y=True)
    for estimator in (IMMAXClassifier, BaselineClassifier):
        with pytest.raises(TypeError, match="labels of their own"):
            estimator(rule="bayes", costs=costs).fit(X, NAMES[y])
    columns = pd.DataFrame([[0.0, 1.0], [10.0, 0.0]], columns=["ok", "fraud"])
    with pytest.raises(TypeError, match=r"DataFrame with the labels \['ok', 'fraud'\]"):
        check_unlabelled(columns, "costs")
    check_unlabelled(columns.set_axis([0, 1], axis=1), "costs")
