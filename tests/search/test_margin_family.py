"""What a search asks of a family of margins, built in or not."""

import numpy as np

from immax.search import PowerFamily
from immax.search.margin_family import MarginFamily, family_weights, full_grid, own_grid

COUNTS = np.array([800, 100, 50])


class Majority(MarginFamily):
    """The margin of the first class alone, and that of another."""

    def margins(self, parameters, counts):
        return np.r_[parameters[0], np.full(len(counts) - 1, parameters[1])]

    def centre(self, counts):
        return np.array([1.0, 0.5])

    def plain(self, counts):
        return np.ones(2)

    def box(self, counts):
        return np.array([0.5, 0.0]), np.array([1.5, 1.0])


def test_values_are_evenly_spaced_by_default():
    axes = Majority().axes(COUNTS, 3)
    assert [axis.tolist() for axis in axes] == [[0.5, 1, 1.5], [0, 0.5, 1]]


def test_a_grid_holds_all_combinations_and_the_special_points():
    grid = [tuple(point) for point in full_grid(Majority(), COUNTS, 2)]
    assert grid == [(0.5, 0), (0.5, 1), (1.5, 0), (1.5, 1), (1, 1), (1, 0.5)]
    assert len(full_grid(Majority(), COUNTS, 3)) == 9  # both points are among them


def test_families_of_margins_have_equal_weights():
    assert family_weights(PowerFamily(), [1.0], COUNTS).tolist() == [1, 1, 1]
    assert own_grid(PowerFamily(), COUNTS, 4) is None
