"""The table of a search."""

import numpy as np

from immax.search.results import CellResults
from immax.search.table import SearchTable


def table():
    results = CellResults.empty(2, 2, 1, 3, ["f1"])
    results.scores[:] = np.arange(12).reshape(2, 2, 1, 3)
    results.totals[:] = [[[0.5], [0.7]], [[0.7], [0.6]]]
    results.losses[:] = [[[0.2] * 3, [0.9] * 3], [[0.4] * 3, [0.3] * 3]]
    results.rules[:] = "bayes"
    results.others["f1"][:] = np.array([0.5, 0.25, np.nan, 0.5]).reshape(2, 2, 1, 1)
    margins = [np.array([1.5, 0.5]), np.ones(2)]
    weights = [np.ones(2), np.array([1.0, 4.0])]
    points = [np.array([0.3, 0.0]), np.array([0.0, 1.0])]
    lams = np.array([1.0, 0.1])
    return SearchTable(points, margins, weights, lams, lams, results, "lam")


def test_columns():
    columns = table().columns()
    assert {len(column) for column in columns.values()} == {4}
    np.testing.assert_array_equal(columns["total_test_score"], [0.5, 0.7, 0.7, 0.6])
    np.testing.assert_array_equal(columns["rank_test_score"], [4, 1, 1, 3])
    np.testing.assert_array_equal(columns["mean_test_score"], [1, 4, 7, 10])
    np.testing.assert_array_equal(columns["split2_test_score"], [2, 5, 8, 11])
    np.testing.assert_array_equal(columns["mean_test_f1"], [0.5, 0.25, np.nan, 0.5])
    np.testing.assert_array_equal(columns["rank_test_f1"], [1, 3, 4, 1])
    assert columns["params"][1] == {"parameters": [0.3, 0.0], "lam": 0.1, "rule": "bayes"}
    np.testing.assert_array_equal(columns["weights"][3], [1, 4])


def test_choices():
    own = table()
    assert own.choose(one_se=False) == 1  # the more equal of two that are as good
    assert own.choose_probabilities(1) == 0  # the margins are the more equal ones
