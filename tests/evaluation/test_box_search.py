"""The paper's margin search for networks."""

import numpy as np
import pytest

from immax.evaluation.box_search import box_margins, box_points, combine_points
from immax.margins import theory_margins

COUNTS = [5000, 2000, 400, 50]


def test_each_margin_has_its_values_around_the_theory_s():
    points = box_points({"groups": [4], "values": [10], "total": [1.0]})
    assert len(points) == 41
    ideal = theory_margins(COUNTS, total=1)
    np.testing.assert_allclose(box_margins(COUNTS, points[0]), ideal)
    tried = np.array([box_margins(COUNTS, point) for point in points[1:]])
    for k in range(4):
        own = tried[10 * k : 10 * k + 10]
        np.testing.assert_allclose(own[:, k], np.linspace(0.2, 1.8, 10) * ideal[k])
        np.testing.assert_allclose(
            np.delete(own, k, axis=1), np.delete(ideal, k)[None].repeat(10, 0)
        )


def test_rare_classes_share_a_margin():
    point = {"groups": 2, "total": 0.0, "factor_1": 0.4}
    rho = box_margins(COUNTS, point)
    ideal = theory_margins(COUNTS)
    assert rho[0] == pytest.approx(ideal[0])
    np.testing.assert_allclose(rho[1:], 0.4 * ideal[1:].mean())
    assert len(set(box_margins([10, 20], {"groups": 9, "total": 1.0}))) == 2


def test_the_choice_combines_the_best_of_each_margin():
    points = box_points({"groups": [3], "values": [3], "total": [1.0, 0.0]})
    assert len(points) == 14  # the multiple 1 is the theory's margin, which is there once
    scores = np.full(14, 0.5)
    scores[[1, 6]] = 0.7, 0.6  # total 1: the first margin times 0.2, the third times 1.8
    chosen = combine_points(points, scores)
    assert chosen == {"groups": 3, "total": 1.0, "factor_0": 0.2, "factor_2": 1.8}
    scores[7] = 0.9  # the theory's margins of mean one
    assert combine_points(points, scores) == {"groups": 3, "total": 0.0}
    assert combine_points(points[:1], [0.3]) == points[0]


def test_bad_input():
    for grid, message in [
        ({"groups": [2.5]}, "groups must be one whole number"),
        ({"groups": [2], "values": [0]}, "values must be one whole number"),
        ({"groups": [2], "width": [1.0]}, "width must lie strictly between"),
        ({"groups": [2], "power": [0.3]}, "the search of margins has groups, width, values, total"),
    ]:
        with pytest.raises(ValueError, match=message):
            box_points(grid)
