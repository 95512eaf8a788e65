"""Margins and class weights as one family."""

import numpy as np

from immax.margins import theory_margins
from immax.search import CountedFamily, WeightedFamily
from immax.search.exploration import explore_family
from immax.search.margin_family import full_grid
from immax.search.results import CellResults

COUNTS = np.array([800, 100, 50])


def test_members():
    family = WeightedFamily()
    assert family.margins(family.plain(COUNTS), COUNTS).tolist() == [1, 1, 1]
    assert family.weights(family.plain(COUNTS), COUNTS).tolist() == [1, 1, 1]
    np.testing.assert_allclose(
        family.margins(family.centre(COUNTS), COUNTS), theory_margins(COUNTS)
    )
    balanced = [-1 / 3, 1.0]
    np.testing.assert_allclose(
        family.margins(balanced, COUNTS), theory_margins(COUNTS, costs=1 / COUNTS)
    )
    np.testing.assert_allclose(family.weights(balanced, COUNTS), 950 / COUNTS)
    for pair in [(0.0, 0.0), (0.0, 1.0), (1 / 3, 0.0)]:  # plain, weights, margins
        assert pair in family.values


def test_only_its_own_points_are_tried():
    family = WeightedFamily(((0.0, 0.0), (0.0, 1.0), (0.5, 0.5)))
    assert len(full_grid(family, COUNTS, 10)) == 3
    points, _ = explore_family(
        family, COUNTS, 10, lambda points: CellResults.empty(len(points), 1, 1), max_points=1
    )
    assert [tuple(point) for point in points] == list(family.values)
    low, high = family.box(COUNTS)
    assert low.tolist() == [0, 0]
    assert high.tolist() == [0.5, 1]
    assert [axis.tolist() for axis in family.axes(COUNTS, 3)] == [[0, 0.25, 0.5], [0, 0.5, 1]]


def test_counts_that_are_given_reach_the_weights():
    counted = CountedFamily("weighted", counts=(800, 100, 50))
    np.testing.assert_allclose(counted.weights([0, 1], [10, 10, 10]), 950 / COUNTS)
    assert len(full_grid(counted, [10, 10, 10], 10)) == 4
    assert CountedFamily("power", counts=(800, 100, 50)).grid([10, 10, 10], 5) is None
