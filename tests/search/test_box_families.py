"""The paper's boxes of margins."""

import numpy as np
import pytest

from immax.margins import search_box, theory_margins
from immax.search.box_families import BoxFamily, SharedTailFamily

COUNTS = np.array([500, 120, 40, 9])


def test_the_papers_box():
    """Each margin is searched within 80 % of its own, whatever the others are."""
    family, ideal = BoxFamily(0.8), theory_margins(COUNTS)
    axes = family.axes(COUNTS, 10)
    np.testing.assert_allclose(axes * ideal[:, None], search_box(ideal, 0.8, 10))
    factors = np.array([0.5, 1, 1.5, 0.2])
    np.testing.assert_allclose(family.margins(factors, COUNTS), factors * ideal)


@pytest.mark.parametrize("counts", [[729, 1], [1, 729], [400, 100]])
def test_the_papers_box_of_two_classes(counts):
    """Alpha stays within 80 % of the rarer class's share."""
    low, high = BoxFamily(0.8).box(counts)
    shares = theory_margins(counts, total=1)
    rare = int(np.argmin(counts))
    for alpha, factor in ((low[0], 0.2), (high[0], 1.8)):
        share = alpha if rare == 1 else 1 - alpha
        assert share / shares[rare] == pytest.approx(factor if rare == 1 else 2 - factor)
    for alpha in (low, high):
        rho = BoxFamily(0.8).margins(alpha, counts)
        assert rho[1] / rho.sum() == pytest.approx(alpha[0])
        assert rho.mean() == pytest.approx(1)


def test_the_tail_shares_a_margin():
    family = SharedTailFamily(n_groups=3)
    factors = np.array([1.2, 0.7, 0.4])
    ideal = theory_margins(COUNTS)
    expected = [1.2 * ideal[0], 0.7 * ideal[1], *[0.4 * ideal[2:].mean()] * 2]
    np.testing.assert_allclose(family.margins(factors, COUNTS), expected)
    assert len(family.axes(COUNTS, 5)) == 3
    # The rare counts differ, and still they have one margin.
    rho = SharedTailFamily(n_groups=2).margins([1, 0.5], [8000, 1000, 50])
    assert rho[1] == rho[2] != rho[0]


def test_step_imbalance_has_one_margin_for_the_minority():
    counts = [500] * 3 + [5] * 3
    family = SharedTailFamily(n_groups=4)
    np.testing.assert_allclose(
        family.margins(family.centre(counts), counts), theory_margins(counts)
    )
    rho = family.margins([0.5, 1, 1.5, 0.2], counts)
    assert len(set(rho[3:])) == 1
    assert len(set(rho[:3])) == 3


def test_bad_parameters():
    with pytest.raises(ValueError, match="4 classes, and 2 parameters"):
        BoxFamily().margins([1, 1], COUNTS)
    with pytest.raises(ValueError, match="3 groups of classes, and 4"):
        SharedTailFamily(n_groups=3).margins([1, 1, 1, 1], COUNTS)
    with pytest.raises(ValueError, match="width must lie strictly between"):
        BoxFamily(1.0)
    with pytest.raises(ValueError, match="n_groups must be a whole number"):
        SharedTailFamily(n_groups=0)
