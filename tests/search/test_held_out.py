"""Scores of the held-out samples of several folds."""

import numpy as np

from immax.search.held_out import HeldOutCells, PointTerms


def part(rows, value, models=1):
    n = len(rows)
    terms = [PointTerms(np.full((models, 2), value + i), np.ones((models, 2))) for i in range(3)]
    index = np.arange(n) % models
    values = np.full((3, 2, n, 1), float(value))
    return HeldOutCells(
        values, terms, np.array(rows), index, [np.arange(n)], np.full((3, 2, 1), value)
    )


def test_folds_are_pooled():
    pool = HeldOutCells.pool([part([4, 1], 1), part([0, 2, 3], 2)])
    assert pool.values.shape == (3, 2, 5, 1)
    np.testing.assert_array_equal(pool.rows, [4, 1, 0, 2, 3])
    np.testing.assert_array_equal(pool.model_index, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(pool.groups[1], [2, 3, 4])
    np.testing.assert_array_equal(pool.terms[2].margins, [[3, 3], [4, 4]])
    assert pool.fit_times.shape == (3, 2, 2)


def test_each_sample_keeps_its_own_model():
    pool = HeldOutCells.pool([part([0, 1], 1, models=2), part([2, 3], 5, models=2)])
    np.testing.assert_array_equal(pool.terms[0].margins[pool.model_index, 0], [1, 1, 5, 5])
    np.testing.assert_array_equal(pool.model_index, [0, 1, 2, 3])
