import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from immax.margins import (
    class_radii,
    power_margins,
    resolve_margins,
    scale_margins,
    search_box,
    share_tail,
    theory_margins,
)

positive = st.floats(0.1, 1e4)
vectors = st.integers(2, 8).flatmap(lambda c: arrays(np.float64, (3, c), elements=positive))


@given(vectors)
def test_theory_margins_are_the_paper_s_formula(table):
    counts, radii, costs = table
    rho = theory_margins(counts, radii, costs, total=2.5)
    raw = [k ** (2 / 3) * m ** (1 / 3) * r ** (2 / 3) for m, r, k in table.T]
    np.testing.assert_allclose(rho, 2.5 * np.array(raw) / sum(raw), rtol=1e-12)


@given(vectors, st.integers(0, 2**16))
def test_theory_margins_minimise_the_complexity_term(table, seed):
    counts, radii, costs = table

    def complexity(rho):
        return np.sum(costs**2 * counts * radii**2 / rho**2)

    rho = theory_margins(counts, radii, costs)
    other = np.random.default_rng(seed).dirichlet(np.ones(rho.size)) + 1e-9
    assert complexity(rho) <= complexity(other / other.sum()) * (1 + 1e-9)


def test_theory_margins_against_a_numerical_minimiser():
    counts, radii = np.array([500.0, 40.0, 7.0]), np.array([1.0, 3.0, 2.0])

    def complexity(logits):
        rho = np.exp(logits) / np.exp(logits).sum()
        return np.log(np.sum(counts * radii**2 / rho**2))

    found = minimize(complexity, np.zeros(3), tol=1e-12).x
    expected = np.exp(found) / np.exp(found).sum()
    np.testing.assert_allclose(theory_margins(counts, radii, total=1), expected, rtol=1e-4)


@pytest.mark.parametrize("counts", [[900, 100], [5000, 500, 50], np.arange(1, 1001)])
def test_margins_have_mean_one_unless_a_total_is_asked_for(counts):
    for make in (theory_margins, lambda m, **kw: power_margins(m, 0.7, **kw)):
        assert make(counts).mean() == pytest.approx(1, rel=1e-12)
        assert make(counts, total=1).sum() == pytest.approx(1, rel=1e-12)
        np.testing.assert_allclose(scale_margins(make(counts, total=1)), make(counts))
        np.testing.assert_allclose(scale_margins(make(counts), total=1), make(counts, total=1))


def test_balanced_costs_turn_the_margins_round():
    counts = np.array([800.0, 100.0])
    rho = theory_margins(counts, costs=1 / counts)
    np.testing.assert_allclose(rho, power_margins(counts, -1 / 3))
    assert rho[0] < rho[1]


def test_power_margins():
    counts = [1000, 10, 1]
    np.testing.assert_array_equal(power_margins(counts, 0), np.ones(3))
    np.testing.assert_allclose(power_margins(counts, 0, total=1), np.full(3, 1 / 3))
    np.testing.assert_allclose(power_margins(counts, 1 / 3), theory_margins(counts))
    np.testing.assert_allclose(power_margins([1e300, 1.0], -0.5), [2e-150, 2], rtol=1e-9)
    for power in (200, -200):
        with pytest.raises(ValueError, match="makes the margins of some classes vanish"):
            power_margins([1000, 1], power)
    for power in (np.nan, np.inf, "half", None, [0.5]):
        with pytest.raises(ValueError, match="power must be a finite number"):
            power_margins([1000, 1], power)


def test_class_radii():
    np.testing.assert_array_equal(class_radii([1.0, 4.0, 2.0, 3.0], [2, 0, 0, 2], 3), [4, 0, 3])

    for norms, y, message in [
        ([1.0], [0, 1], "one entry per sample"),
        ([1.0, 2.0], [-1, 1], "whole numbers from 0"),
        ([1.0, 2.0], [0.0, 1.0], "whole numbers from 0"),
        ([1.0, 2.0], [0, 2], "y goes up to 2; there are 2 classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            class_radii(norms, y, 2)


def test_search_box_is_the_paper_s():
    rho = theory_margins([5000, 500, 50])
    box = search_box(rho)
    assert box.shape == (3, 10)
    np.testing.assert_allclose(box[:, 0], 0.2 * rho)
    np.testing.assert_allclose(box[:, -1], 1.8 * rho)
    np.testing.assert_allclose(np.diff(box), np.diff(box)[:, :1] * np.ones(9))


def test_share_tail():
    np.testing.assert_array_equal(share_tail([10, 30, 20, 20], 4), [3, 0, 1, 2])
    np.testing.assert_array_equal(share_tail([10, 30, 20, 20], 2), [1, 0, 1, 1])
    np.testing.assert_array_equal(share_tail([10, 30], 1), [0, 0])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([5, 0], "counts of class 1 is 0"),
        ([5, 3, -2], "counts of class 2 is -2"),
        ([np.nan, 3], "counts of class 0 is nan"),
        ([np.inf, 3], "counts of class 0 is inf"),
        ([7], r"two or more classes; got \[7.0\]"),
        ([[1, 2], [3]], "one number per class"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        (["many", "few"], "one number per class"),
    ],
)
@pytest.mark.parametrize("function", [theory_margins, lambda m: power_margins(m, 1), share_tail])
def test_bad_counts_are_named(function, counts, message):
    args = (counts, 2) if function is share_tail else (counts,)
    with pytest.raises(ValueError, match=message):
        function(*args)


def test_other_bad_arguments_are_named():
    for call, message in [
        (lambda: theory_margins([3, 2], radii=[1.0]), "radii must have an entry for each of the 2"),
        (lambda: theory_margins([3, 2], costs=[1.0, 0.0]), "costs of class 1 is 0"),
        (lambda: theory_margins([3, 2], total=0), "total must be a positive"),
        (lambda: theory_margins([3, 2], total="mean"), "total must be a positive"),
        (lambda: power_margins([3, 2], np.nan), "power must be a finite number"),
        (lambda: search_box([0.5, 0.5], width=1.0), "width must lie strictly between"),
        (lambda: search_box([0.5, 0.5], n=1), "n must be a whole number"),
        (lambda: share_tail([3, 2], 3), "n_groups must be a whole number from 1 to the 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def test_resolve_margins():
    classes, counts = np.array(["a", "b"]), [8, 1]
    np.testing.assert_allclose(resolve_margins("theory", classes, counts), [4 / 3, 2 / 3])
    np.testing.assert_allclose(resolve_margins("theory", classes, counts, [1, 8]), [2 / 3, 4 / 3])
    np.testing.assert_allclose(resolve_margins("equal", classes, counts), [1, 1])
    np.testing.assert_allclose(resolve_margins({"b": 3, "a": 1}, classes, counts), [1, 3])
    for margins, message in [
        ("optimal", "margins must be 'theory', 'equal'"),
        ({"a": 1}, r"without a margin: \['b'\]"),
        ({"a": 1, "b": 1, "z": 1}, r"unknown labels: \['z'\]"),
        ([1, 2, 3], "margins must have an entry for each of the 2 classes; got 3"),
        ([1, -2], "margins of class 1 is -2"),
    ]:
        with pytest.raises(ValueError, match=message):
            resolve_margins(margins, classes, counts)
