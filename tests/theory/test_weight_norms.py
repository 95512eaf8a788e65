"""Complexities of other balls of weights, against the dual norms of random signs."""

import numpy as np
import pytest
from scipy import sparse

from immax.theory import rademacher_group, rademacher_per_class

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 6)) * np.array([3, 1, 1, 0.5, 0.2, 0.1])
Y = RNG.integers(0, 3, 50)
RHO = np.array([1.0, 0.5, 2.0])


def draws(dual_norm, n=300):
    """The mean over random signs of a norm of ``V_k = sum_i eps_ik x_i / rho_{y_i}``."""
    rng = np.random.default_rng(1)
    total = 0.0
    for _ in range(n):
        V = np.zeros((3, 6))
        signs = rng.choice([-1.0, 1.0], (50, 3))
        for k in range(3):
            V[k] = (signs[:, k] / RHO[Y]) @ X
        total += dual_norm(V)
    return total / n / 50


@pytest.mark.parametrize("order", [1, 1.2, 1.5, 2, 3, 10, np.inf])
def test_a_ball_for_each_class(order):
    q = 1.0 if order == np.inf else np.inf if order == 1 else order / (order - 1)
    estimate = draws(lambda V: sum(np.linalg.norm(row, q) for row in V))
    bound = rademacher_per_class(X, Y, RHO, 1.0, order)
    assert estimate <= bound
    assert bound <= 3 * estimate
    assert bound.n_scores == 3
    assert rademacher_per_class(sparse.csr_array(X), Y, RHO, 1.0, order) == pytest.approx(bound)
    assert rademacher_per_class(X, Y, RHO, 2.0, order) == pytest.approx(2 * bound)


def test_order_two_in_plain_loops():
    moment = sum(sum(v**2 for v in x) / RHO[k] ** 2 for x, k in zip(X, Y, strict=True))
    assert rademacher_per_class(X, Y, RHO, 1.0) == pytest.approx(3 * np.sqrt(moment) / 50)


@pytest.mark.parametrize("groups", ["features", "classes"])
def test_the_group_norm(groups):
    axis = 0 if groups == "features" else 1
    estimate = draws(lambda V: np.linalg.norm(V, axis=axis).max())
    bound = rademacher_group(X, Y, RHO, 1.0, groups)
    assert estimate <= bound
    assert bound <= 4 * estimate
    assert rademacher_group(sparse.csr_array(X), Y, RHO, 1.0, groups) == pytest.approx(bound)


def test_bad_input():
    with pytest.raises(ValueError, match="order must be a number of at least 1"):
        rademacher_per_class(X, Y, RHO, 1.0, 0.5)
    with pytest.raises(ValueError, match="groups must be 'features' or 'classes'"):
        rademacher_group(X, Y, RHO, 1.0, "rows")
    with pytest.raises(ValueError, match="norm must be"):
        rademacher_group(X, Y, RHO, 0.0)
    with pytest.raises(ValueError, match="y must have shape"):
        rademacher_per_class(X, Y[:3], RHO, 1.0)
    with pytest.raises(ValueError, match="finite"):
        rademacher_per_class(np.where(X.max() == X, np.nan, X), Y, RHO, 1.0)
