"""Closed forms, their order, and estimates that must lie below them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from immax.theory import (
    estimate_kernel,
    estimate_linear,
    rademacher_kernel,
    rademacher_l1,
    rademacher_linear,
)


def sample(c, seed, m=40, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * rng.uniform(0.1, 3, (m, 1))
    y = np.append(np.arange(c), rng.integers(0, c, m - c))
    return X, y, rng.uniform(0.2, 3, c)


def test_theorem_rad_linear():
    X, y, rho = sample(2, 0)
    norms = [np.linalg.norm(x) for x in X]
    m, Lambda = len(y), 1.7
    counts = [sum(y == k) for k in (0, 1)]
    radii = [max(n for n, label in zip(norms, y, strict=True) if label == k) for k in (0, 1)]
    by_class = sum(counts[k] * radii[k] ** 2 / rho[k] ** 2 for k in (0, 1))
    by_one = sum(counts[k] * max(norms) ** 2 / rho[k] ** 2 for k in (0, 1))
    by_sample = sum(n**2 / rho[k] ** 2 for n, k in zip(norms, y, strict=True))
    for step, moment in (("classes", by_class), ("radius", by_one), ("sample", by_sample)):
        found = rademacher_linear(X, y, rho, Lambda, step=step)
        assert found == pytest.approx(Lambda / m * moment**0.5, rel=1e-12)
    assert by_sample <= by_class <= by_one


@pytest.mark.parametrize("c", [3, 6])
def test_theorem_rad_kernel_2(c):
    X, y, rho = sample(c, 1)
    gram = rbf_kernel(X) + X @ X.T
    m, Lambda = len(y), 0.8
    radii = [max(gram[i, i] for i in range(m) if y[i] == k) ** 0.5 for k in range(c)]
    moment = sum(sum(y == k) * radii[k] ** 2 / rho[k] ** 2 for k in range(c))
    found = rademacher_kernel(np.diag(gram), y, rho, Lambda)
    assert found == pytest.approx(Lambda * c**0.5 / m * moment**0.5, rel=1e-12)
    trace = sum(gram[i, i] / rho[y[i]] ** 2 for i in range(m))
    found = rademacher_kernel(np.diag(gram), y, rho, Lambda, step="sample")
    assert found == pytest.approx(Lambda * c**0.5 / m * trace**0.5, rel=1e-12)


@pytest.mark.parametrize("c", [3, 6])
def test_theorem_rad_kernel_1(c):
    X, y, rho = sample(c, 2)
    m, Lambda = len(y), 0.8
    radii = [max(np.abs(x).max() for x, k in zip(X, y, strict=True) if k == j) for j in range(c)]
    moment = sum(sum(y == k) * radii[k] ** 2 / rho[k] ** 2 for k in range(c))
    expected = Lambda * (2 * c) ** 0.5 / m * (moment * np.log(2 * c * X.shape[1])) ** 0.5
    assert rademacher_l1(X, y, rho, Lambda) == pytest.approx(expected, rel=1e-12)
    assert rademacher_l1(X, y, rho, Lambda, step="sample") <= expected


def test_sparse_data_give_the_same():
    X, y, rho = sample(3, 3)
    X[np.abs(X) < 0.5] = 0
    for function in (rademacher_linear, rademacher_l1):
        for step in ("sample", "classes", "radius"):
            dense = function(X, y, rho, 1.0, step=step)
            assert function(sparse.csr_matrix(X), y, rho, 1.0, step=step) == pytest.approx(dense)
    whole = sparse.csr_array(X)
    halves = np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr
    for function in (rademacher_linear, rademacher_l1):
        found = function(sparse.csr_array(halves, X.shape), y, rho, 1.0)
        assert found == pytest.approx(function(X, y, rho, 1.0))
    bytes_ = np.full((40, 2), 200, np.uint8)
    dense = rademacher_linear(bytes_, y, rho, 1.0)
    assert rademacher_linear(sparse.csr_matrix(bytes_), y, rho, 1.0) == pytest.approx(dense)
    dense = estimate_linear(X, y, rho, 1.0, n_draws=5, random_state=0)
    thin = estimate_linear(sparse.csr_matrix(X), y, rho, 1.0, n_draws=5, random_state=0)
    assert thin.mean == pytest.approx(dense.mean)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from([1, 2]))
def test_estimates_lie_below_the_closed_forms(seed, c, order):
    X, y, rho = sample(c, seed)
    found = estimate_linear(
        X, y, rho, 1.3, order=order, n_draws=150, confidence=0.9999, random_state=seed
    )
    closed = rademacher_linear if order == 2 else rademacher_l1
    steps = [closed(X, y, rho, 1.3, step=step) for step in ("sample", "classes", "radius")]
    assert found.low <= steps[0] * (1 + 1e-12)
    assert steps[0] <= steps[1] * (1 + 1e-12)
    assert steps[1] <= steps[2] * (1 + 1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 4]))
def test_kernel_estimates_lie_below_the_trace(seed, c):
    X, y, rho = sample(c, seed)
    gram = rbf_kernel(X)
    found = estimate_kernel(gram, y, rho, 1.3, n_draws=150, confidence=0.9999, random_state=0)
    assert found.low <= rademacher_kernel(np.diag(gram), y, rho, 1.3, step="sample")


def test_a_linear_kernel_is_the_linear_case():
    X, y, rho = sample(3, 4)
    a = estimate_linear(X, y, rho, 1.0, n_draws=20, random_state=0)
    b = estimate_kernel(X @ X.T, y, rho, 1.0, n_draws=20, random_state=0)
    assert a.mean == pytest.approx(b.mean, rel=1e-9)
    assert a.low < a.mean < a.high


def test_two_samples_exactly():
    """With two samples the expectation over signs can be written out."""
    X, y, rho = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([0, 1]), [1.0, 2.0]
    exact = np.hypot(3, 4 / 2) / 2  # the same for all signs
    found = estimate_linear(X, y, rho, 1.0, n_draws=10, random_state=0)
    assert found.mean == pytest.approx(exact)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y, r: rademacher_linear(X, y, r, 0.0), "norm must be"),
        (lambda X, y, r: rademacher_linear(X, y, -r, 1.0), "rho"),
        (lambda X, y, r: rademacher_linear(X, y[:-1], r, 1.0), "y must have shape"),
        (lambda X, y, r: rademacher_linear(X, y, r[:-1], 1.0), "class numbers"),
        (lambda X, y, r: rademacher_linear(X, y, r, 1.0, step="all"), "step must be"),
        (lambda X, y, r: rademacher_linear(X[0], y, r, 1.0), "two dimensions"),
        (lambda X, y, r: estimate_linear(X, y, r, 1.0, order=3), "order must be"),
        (lambda X, y, r: estimate_linear(X, y, r, 1.0, confidence=1.0), "confidence"),
        (lambda X, y, r: estimate_linear(X, y, r, 1.0, n_draws=1), "n_draws"),
        (lambda X, y, r: estimate_linear(X * np.nan, y, r, 1.0), "finite"),
        (lambda X, y, r: rademacher_l1(X * np.nan, y, r, 1.0), "finite"),
        (lambda X, y, r: estimate_kernel(X, y, r, 1.0), "square"),
        (lambda X, y, r: rademacher_kernel(-np.ones(len(y)), y, r, 1.0), "diagonal"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(*sample(3, 0))
