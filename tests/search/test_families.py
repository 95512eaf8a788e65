"""Families of margins."""

import numpy as np
import pytest

from immax.margins import power_margins, share_tail, theory_margins
from immax.search.families import (
    FAMILIES,
    BoxFamily,
    FreeFamily,
    PowerFamily,
    SharedTailFamily,
    full_grid,
    resolve_family,
)

COUNTS = np.array([500, 120, 40, 9])


@pytest.mark.parametrize("counts", [COUNTS, COUNTS[:2], COUNTS[1::-1]])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_knows_the_theory_and_its_box(name, counts):
    family = resolve_family(name)
    np.testing.assert_allclose(
        family.margins(family.centre(counts), counts), theory_margins(counts)
    )
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


def test_the_papers_box():
    family, ideal = BoxFamily(0.8), theory_margins(COUNTS)
    axes = family.axes(COUNTS, 10)
    for k in range(4):
        np.testing.assert_allclose(axes[k] * ideal[k], np.linspace(0.2, 1.8, 10) * ideal[k])
    factors = np.array([0.5, 1, 1.5, 0.2])
    expected = factors * ideal
    np.testing.assert_allclose(family.margins(factors, COUNTS), expected / expected.mean())


def test_the_tail_shares():
    family = SharedTailFamily(n_groups=3)
    groups = share_tail(COUNTS, 3)
    factors = np.array([1.2, 0.7, 0.4])
    expected = factors[groups] * theory_margins(COUNTS)
    np.testing.assert_allclose(family.margins(factors, COUNTS), expected / expected.mean())
    assert len(family.axes(COUNTS, 5)) == 3


def test_bad_families_and_parameters():
    with pytest.raises(ValueError, match="family must be one of 'auto'"):
        resolve_family("best")
    with pytest.raises(ValueError, match="methods of a MarginFamily"):
        resolve_family(3)
    with pytest.raises(ValueError, match="4 classes, and 2 parameters"):
        BoxFamily().margins([1, 1], COUNTS)
    with pytest.raises(ValueError, match="3 groups of classes, and 4"):
        SharedTailFamily(n_groups=3).margins([1, 1, 1, 1], COUNTS)
    with pytest.raises(ValueError, match="4 classes, and 2 parameters"):
        FreeFamily().margins([1, 1], COUNTS)
