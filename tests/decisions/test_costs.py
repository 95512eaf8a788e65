"""Costs of errors and of not deciding."""

import numpy as np
import pandas as pd
import pytest

from immax.decisions.costs import Costs


def test_costs():
    labels = np.array(["fraud", "ok"])
    aim = Costs({"ok": 1.0, "fraud": 10.0}, abstain=0.5)
    np.testing.assert_array_equal(aim.matrix(labels), [[0, 10, 0.5], [1, 0, 0.5]])
    table = np.array([[3.0, 1.0, 2.0], [4.0, 5.0, 0.0]])
    assert aim.for_classes(labels).value(table) == pytest.approx(-(10 + 2 * 0.5 + 4) / 15)
    matrix = [[0, 2, 3], [1, 0, 5], [7, 1, 0]]
    np.testing.assert_array_equal(Costs(matrix).matrix(np.arange(3)), matrix)


@pytest.mark.parametrize("given", [[1.0, 5.0], np.array([1.0, 5.0]), {"a": 1.0, "b": 5.0}])
def test_costs_are_a_copy_that_can_be_compared(given):
    aim, same = Costs(given), Costs(given.copy())
    assert aim == same
    assert hash(aim) == hash(same)
    given["b" if isinstance(given, dict) else 1] = 50.0
    np.testing.assert_array_equal(aim.matrix(np.array(["a", "b"])), [[0, 1], [5, 0]])
    assert aim != Costs(given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Costs([1, -1]), "not negative"),
        (lambda: Costs([0, 0]), "all zero"),
        (lambda: Costs([[1, 2, 3], [1, 2, 3]]), "row and column"),
        (lambda: Costs("cheap"), "numbers"),
        (lambda: Costs([1, 2], abstain=-1), "abstain"),
        (
            lambda: Costs([1, 2, 3]).matrix(np.arange(2)),
            r"costs must have shape \(2,\)",
        ),
        (lambda: Costs({"a": 1}).matrix(np.array(["a", "b"])), "classes without a cost: \\['b'\\]"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "costs",
    [pd.Series({"ok": 1, "fraud": 10}), pd.DataFrame([[0, 1], [10, 0]], ["ok", "fraud"])],
    ids=["series", "frame"],
)
def test_labels_of_pandas_are_not_ignored(costs):
    with pytest.raises(TypeError, match=r"labels of their own.*'ok', 'fraud'"):
        Costs(costs)
    unlabelled = costs.reset_index(drop=True)
    np.testing.assert_array_equal(Costs(unlabelled).costs, Costs(costs.to_numpy()).costs)
