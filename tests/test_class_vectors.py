"""Arguments with a number for each class."""

import numpy as np
import pytest

from immax.class_vectors import class_vector, in_class_order, positive_number
from immax.class_weights import resolve_weights
from immax.decisions import Costs
from immax.margins import resolve_margins

CLASSES = np.array(["ham", "spam"])


def test_vectors_have_an_entry_for_each_class():
    np.testing.assert_array_equal(class_vector([3, 1], "counts"), [3.0, 1.0])
    for values, message in (
        ("ab", "counts must be one number per class, such as"),
        ([[1, 2]], r"1-D array; got shape \(1, 2\)"),
        ([1], "two or more classes"),
        ([1, 0], "counts of class 1 is 0"),
        ([1, np.nan], "counts of class 1 is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            class_vector(values, "counts")
    with pytest.raises(ValueError, match="each of the 3 classes; got 2"):
        class_vector([1, 2], "counts", 3)


@pytest.mark.parametrize("value", [0, -1, np.inf, np.nan, "one", None])
def test_numbers_must_be_positive(value):
    assert positive_number(np.float32(2), "total") == 2
    with pytest.raises(ValueError, match="total must be a positive, finite number"):
        positive_number(value, "total")


@pytest.mark.parametrize(
    ("name", "noun", "resolve"),
    [
        ("margins", "margin", lambda values: resolve_margins(values, CLASSES, [8, 2])),
        ("weights", "weight", lambda values: resolve_weights(values, CLASSES, [8, 2])),
        ("costs", "cost", lambda values: Costs(values).matrix(CLASSES).max(axis=1)),
    ],
)
def test_dicts_go_by_label_in_every_argument(name, noun, resolve):
    assert in_class_order({"spam": 3, "ham": 1}, CLASSES, name, noun) == [1, 3]
    np.testing.assert_array_equal(resolve({"spam": 3.0, "ham": 1.0}), [1.0, 3.0])
    message = (
        rf"{name} must have one .*unknown labels: \['egg'\], classes without a {noun}: \['ham'\]"
    )
    with pytest.raises(ValueError, match=message):
        resolve({"spam": 3.0, "egg": 1.0})
