"""Tables of scores and times, and how they are joined."""

import numpy as np

from immax.search.results import CellResults


def filled(shape, value):
    results = CellResults.empty(*shape)
    for array in (results.scores, results.losses, results.fit_times, results.score_times):
        array[:] = value
    return results


def test_shapes():
    results = CellResults.empty(4, 3, 2, 5, ["f1"])
    assert results.scores.shape == results.without.shape == (4, 3, 2, 5)
    assert results.totals.shape == results.rules.shape == (4, 3, 2)
    assert results.losses.shape == results.fit_times.shape == (4, 3, 5)
    assert results.others["f1"].shape == (4, 3, 2, 5)
    assert CellResults.empty(4, 3, 2).score_times.shape == (4, 3, 1)


def test_points_are_joined_along_the_first_axis():
    joined = CellResults.join([filled((2, 3, 2), 0), filled((1, 3, 2), 1)])
    assert joined.scores.shape == (3, 3, 2, 1)
    assert joined.calibrations.shape == (3, 3)
    np.testing.assert_array_equal(joined.fit_times[:, 0, 0], [0, 0, 1])
