"""Families of margins."""

import numpy as np
import pytest

from immax.margins import power_margins, tail_margins, theory_margins
from immax.search.box_families import BoxFamily
from immax.search.families import FAMILIES, FreeFamily, PowerFamily, resolve_family
from immax.search.margin_family import full_grid

COUNTS = np.array([500, 120, 40, 9])


@pytest.mark.parametrize("counts", [COUNTS, COUNTS[:2], COUNTS[1::-1]])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_knows_the_theory_and_its_box(name, counts):
    family = resolve_family(name)
    expected = theory_margins(counts)
    if name == "shared_tail" and counts.size > 2:
        expected = tail_margins(counts, 3)
    np.testing.assert_allclose(family.margins(family.centre(counts), counts), expected)
    low, high = family.box(counts)
    assert (low < high).all()
    for special in (family.centre(counts), family.plain(counts)):
        assert (low <= special).all()
        assert (special <= high).all()
    axes = family.axes(counts, 7)
    assert len(axes) == len(low)
    for axis, least, most in zip(axes, low, high, strict=True):
        assert axis.shape == (7,)
        assert axis[0] == pytest.approx(least)
        assert axis[-1] == pytest.approx(most)
        for value in axis:
            point = family.centre(counts).copy()
            point[0] = value
            rho = family.margins(point, counts)
            assert rho.shape == counts.shape
            assert (rho > 0).all()
            if name not in ("box", "shared_tail"):  # which are not rescaled
                assert rho.mean() == pytest.approx(1)


def test_equal_margins_are_in_reach():
    for family in (PowerFamily(), FreeFamily()):
        np.testing.assert_allclose(family.margins(family.plain(COUNTS), COUNTS), 1)
    two = BoxFamily()
    np.testing.assert_allclose(two.margins(two.plain(COUNTS[:2]), COUNTS[:2]), 1)


def test_powers():
    for t in (-0.4, 0.0, 0.7):
        np.testing.assert_allclose(PowerFamily().margins([t], COUNTS), power_margins(COUNTS, t))
    grid = np.ravel(full_grid(PowerFamily(), COUNTS, 10))
    assert grid.size == 10
    assert 0.0 in grid
    assert np.isclose(grid, 1 / 3).any()
    assert len(full_grid(PowerFamily(), COUNTS, 4)) == 5  # with the theory's, which is none of them


def test_bad_families_and_parameters():
    with pytest.raises(ValueError, match="family must be one of 'auto'"):
        resolve_family("best")
    with pytest.raises(ValueError, match="methods of a MarginFamily"):
        resolve_family(3)
    with pytest.raises(ValueError, match="4 classes, and 2 parameters"):
        FreeFamily().margins([1, 1], COUNTS)
