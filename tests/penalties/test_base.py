"""What holds for every penalty, whatever its formula."""

import numpy as np
import pytest
from scipy.optimize import minimize

from immax.penalties.base import soft_threshold


def test_the_proximal_step_is_a_minimiser(penalty, W):
    step = 0.3
    found = penalty.prox(W, step)

    def objective(V):
        V = V.reshape(W.shape)
        return 0.5 * np.sum((V - W) ** 2) + step * penalty.value(V)

    rng = np.random.default_rng(1)
    best = objective(found)
    for scale in (1e-6, 1e-3, 1.0):
        for _ in range(20):
            assert objective(found + scale * rng.normal(size=W.shape)) >= best - 1e-12
    other = minimize(objective, W.ravel(), method="Powell", options={"xtol": 1e-8, "ftol": 1e-12})
    assert best <= other.fun + 1e-8


def test_the_proximal_step_meets_the_optimality_conditions(penalty, W):
    found = penalty.prox(W, 0.3)
    assert penalty.violations(found, found - W, 0.3).max() <= 1e-12


def test_the_conjugate_bounds_the_inner_product(penalty, W):
    rng = np.random.default_rng(2)
    for scale in (0.1, 1.0, 10.0):
        G = scale * rng.normal(size=W.shape)
        conjugate = penalty.conjugate(G, 0.7)
        for factor in (0.0, 0.01, 1.0, 100.0):
            assert np.sum(G * factor * W) - 0.7 * penalty.value(factor * W) <= conjugate + 1e-12


def test_zero_is_optimal_from_the_dual_norm_on(penalty, W):
    norm = penalty.dual_norm(W)
    zero = np.zeros_like(W)
    if penalty.smooth:
        assert norm == np.inf
        assert penalty.dual_norm(zero) == 0
        return
    assert penalty.violations(zero, W, 1.0001 * norm).max() == 0
    assert penalty.violations(zero, W, 0.999 * norm).max() > 0
    assert penalty.conjugate(W, 1.0001 * norm) == 0
    assert penalty.conjugate(W, 0.999 * norm) > 0


def test_the_blocks_spell_the_penalty(penalty, W):
    blocks = penalty.blocks(W.shape)
    value = blocks.norms(W) @ blocks.weights + blocks.ridge * np.sum(W**2)
    assert penalty.value(W) == pytest.approx(value)
    assert blocks.by_column == (blocks.labels is not None)


def test_screening_keeps_what_must_be_kept(penalty, W):
    kept = penalty.screen(W, 0.5, 0.5)
    violating = penalty.violations(np.zeros_like(W), W, 0.5) > 0
    assert kept[violating].all()
    assert penalty.screen(W, 0.5, 0.6).sum() >= kept.sum()


def test_single_precision_stays_single(penalty, W):
    assert penalty.prox(W.astype(np.float32), 0.3).dtype == np.float32


def test_the_norm_part_agrees_close_to_zero(penalty, W):
    if penalty.smooth:
        return
    factor, norm = penalty.norm_part
    assert penalty.value(1e-9 * W) == pytest.approx(factor * norm.value(1e-9 * W), rel=1e-6)


def test_soft_threshold_has_no_negative_zero():
    found = soft_threshold(np.array([-2.0, -0.5, 0.0, 0.5, 2.0]), 1.0)
    np.testing.assert_array_equal(found, [-1, 0, 0, 0, 1])
    assert not np.signbit(found[1])
