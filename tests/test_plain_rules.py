"""Decisions by score and by expected cost."""

import numpy as np
import pytest

from immax.plain_rules import by_score, check_costs, decide, highest_argmax


def test_decisions():
    p = np.array([[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
    np.testing.assert_array_equal(decide(p), [1, 2])
    np.testing.assert_array_equal(decide(p, [10, 1, 1]), [0, 0])
    matrix = np.array([[0, 1, 1], [5, 0, 5], [1, 1, 0.0]])
    np.testing.assert_array_equal(decide(p, matrix), [1, 1])
    expected = [min(range(3), key=lambda j: (row @ matrix[:, j], -j)) for row in p]
    np.testing.assert_array_equal(decide(p, matrix), expected)
    with pytest.raises(ValueError, match=r"costs must have shape \(3,\) or \(3, 3\)"):
        check_costs([1, 2], 3)
    with pytest.raises(ValueError, match="costs must be finite"):
        check_costs([1, 2, np.nan], 3)
    with pytest.raises(ValueError, match=r"not negative; got \[1.0, -2.0\]"):
        decide([[0.5, 0.5]], [1, -2])
    with pytest.raises(ValueError, match="all zero"):
        check_costs([0, 0], 2)


def test_scores_in_lists_and_what_is_no_table_of_probabilities():
    np.testing.assert_array_equal(by_score([-1.0, 2.0]), [0, 1])
    np.testing.assert_array_equal(by_score([[3.0, 2.0]]), [0])
    with pytest.raises(ValueError, match=r"proba must be.*got shape \(2,\)"):
        decide([0.2, 0.8])
    with pytest.raises(ValueError, match=r"proba must be.*got NaN"):
        decide([[0.2, np.nan]])


def test_ties_go_to_the_highest_index():
    np.testing.assert_array_equal(highest_argmax(np.array([[1, 3, 3], [2, 2, 2]])), [2, 2])
    np.testing.assert_array_equal(by_score(np.array([-1.0, 0.0, 2.0])), [0, 1, 1])
    np.testing.assert_array_equal(by_score(np.array([[0.0, 0.0], [1.0, 0.0]])), [1, 0])
