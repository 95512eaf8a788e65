"""The geometric margin, its splits, and Lemma D3."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from immax.margins import theory_margins
from immax.theory import (
    complexity_term,
    geometric_margin,
    hyperplanes,
    ldam_split,
    optimal_split,
    renyi_divergence,
    renyi_excess,
)

positive = st.floats(0.05, 20)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(positive, st.integers(1, 10_000), positive), min_size=2, max_size=8))
def test_lemma_d3(rows):
    rho, m, r = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    r_bar = np.sum(m ** (1 / 3) * r ** (2 / 3)) ** 1.5
    distribution = m ** (1 / 3) * r ** (2 / 3) / r_bar ** (2 / 3)
    divergence = renyi_divergence(distribution, rho / rho.sum(), 3)
    identity = r_bar**2 / rho.sum() ** 2 * np.exp(2 * divergence)
    assert complexity_term(rho, m, r) == pytest.approx(identity, rel=1e-9)
    assert renyi_excess(rho, m, r) == pytest.approx(np.exp(divergence) - 1, rel=1e-6, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_equation_optimal_separable_is_the_minimum(seed, c):
    rng = np.random.default_rng(seed)
    m, r = rng.integers(1, 1000, c), rng.uniform(0.1, 5, c)
    best = theory_margins(m, r, total=2.0)
    least = complexity_term(best, m, r)
    for _ in range(50):
        other = rng.dirichlet(np.ones(c)) * 2
        assert complexity_term(other, m, r) >= least * (1 - 1e-12)
    assert renyi_excess(best, m, r) == pytest.approx(0, abs=1e-7)


def test_renyi_divergence():
    p, q = np.array([0.2, 0.8, 0.0]), np.array([0.5, 0.25, 0.25])
    for order in (0.5, 2, 3):
        loop = sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True) if a > 0)
        assert renyi_divergence(p, q, order) == pytest.approx(np.log(loop) / (order - 1))
    kl = sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    assert renyi_divergence(p, q, 1) == pytest.approx(kl)
    assert renyi_divergence(p, q, 1 + 1e-7) == pytest.approx(kl, rel=1e-5)
    assert renyi_divergence(q, p, 3) == np.inf
    for bad in ((p, q[:2], 3), (p, 2 * q, 3), (p, q, -0.1), (p, q, float("nan"))):
        with pytest.raises(ValueError, match="must"):
            renyi_divergence(*bad)


def separable(seed=0, m=(40, 6)):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], m)
    return np.array([[-4, 0], [4, 1]])[y] + rng.normal(size=(y.size, 2)), y


def test_geometric_margin_of_a_known_sample():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    margin, plane = geometric_margin(X, [0, 0, 1, 1])
    assert margin == pytest.approx(1.5, rel=1e-6)
    np.testing.assert_allclose(plane.normal, [1, 0], atol=1e-5)
    assert plane.offset == pytest.approx(-1.5, abs=1e-5)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e5])
@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-5])
def test_the_margin_is_exact_wherever_the_data_are(shift, gap):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, gap, -gap)
    X[:40, 0] = np.where(y[:40] == 1, gap, -gap)
    margin, plane = geometric_margin(X + shift, y)
    assert margin == pytest.approx(gap, rel=1e-5 + 1e-15 * shift / gap * 1e5)
    np.testing.assert_allclose(np.abs(plane.normal), [1, 0], atol=1e-3)


def test_the_margin_equals_that_of_a_general_solver():
    from scipy.optimize import minimize

    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    y = (X @ np.arange(1, 6) > 0).astype(int)
    sign = np.where(y == 1, 1, -1)
    margin, _ = geometric_margin(X, y)
    found = minimize(
        lambda v: v[:5] @ v[:5],
        np.append(np.arange(1.0, 6.0) * 50, 0.0),
        constraints={"type": "ineq", "fun": lambda v: sign * (X @ v[:5] + v[5]) - 1},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert margin == pytest.approx(1 / np.linalg.norm(found.x[:5]), rel=1e-5)


def test_splits():
    m = [1000, 27]
    immax, ldam = optimal_split(1.0, m), ldam_split(1.0, m)
    assert immax.sum() == ldam.sum() == pytest.approx(2)
    assert immax[0] / immax[1] == pytest.approx((1000 / 27) ** (1 / 3))
    assert ldam[0] / ldam[1] == pytest.approx((27 / 1000) ** (1 / 4))
    with_radii = optimal_split(1.0, m, [1.0, 8.0])
    assert with_radii[0] / with_radii[1] == pytest.approx((1000 / 27) ** (1 / 3) / 4)


def test_the_hyperplanes_stand_where_they_should():
    X, y = separable()
    margin, _ = geometric_margin(X, y)
    planes = hyperplanes(X, y)
    counts = np.bincount(y)
    splits = {"SVM": [margin, margin], "LDAM": ldam_split(margin, counts)}
    splits["IMMAX"] = optimal_split(margin, counts)
    for name, (negative, positive) in splits.items():
        distances = planes[name].distances(X)
        assert distances[y == 1].min() == pytest.approx(positive, rel=1e-4)
        assert -distances[y == 0].max() == pytest.approx(negative, rel=1e-4)
        assert (planes[name].predict(X) == y).all()
    assert set(hyperplanes(X, y.astype(float))) == set(planes)
    assert set(hyperplanes(X, y, use_radii=True)) == {"SVM", "LDAM", "IMMAX"}


def test_what_does_not_fit_is_refused():
    X, y = separable()
    with pytest.raises(ValueError, match="no hyperplane separates"):
        geometric_margin(np.vstack([X, X[y == 0].mean(axis=0)]), np.append(y, 1))
    with pytest.raises(ValueError, match="both of them"):
        geometric_margin(X, np.zeros(len(y), int))
    with pytest.raises(ValueError, match="shape"):
        geometric_margin(X, y[:-1])
    with pytest.raises(ValueError, match="finite"):
        geometric_margin(X * np.nan, y)
    with pytest.raises(ValueError, match="margin"):
        ldam_split(0.0, [1, 1])


def test_renyi_divergence_of_the_limiting_orders():
    p, q = np.array([0.2, 0.8, 0.0]), np.array([0.5, 0.25, 0.25])
    assert renyi_divergence(p, q, 0) == pytest.approx(-np.log(0.75))
    assert renyi_divergence(p, q, 0) == pytest.approx(renyi_divergence(p, q, 1e-9), abs=1e-7)
    assert renyi_divergence(p, q, np.inf) == pytest.approx(np.log(0.8 / 0.25))
    assert renyi_divergence(p, q, np.inf) == pytest.approx(renyi_divergence(p, q, 600), rel=0.01)
    values = [renyi_divergence(p, q, order) for order in (0, 0.3, 1, 2, 3, np.inf)]
    assert values == sorted(values)  # it grows with the order
    apart = np.array([0.0, 0.0, 1.0])
    assert [renyi_divergence(p, apart, order) for order in (0, 0.5, 1, np.inf)] == [np.inf] * 4
    assert renyi_divergence(q, p, 0) == pytest.approx(0)  # q has mass where p has none
    assert renyi_divergence(q, p, np.inf) == np.inf
