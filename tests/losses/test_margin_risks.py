"""Risks of a single score, against plain loops."""

import numpy as np
import pytest

from immax.losses.margin_risks import BLOCK_ROWS, MarginRisk
from immax.losses.surrogates import hinge, logistic

RNG = np.random.default_rng(2)
N = BLOCK_ROWS + 300  # more than one block of rows
SLOPE = np.where(RNG.integers(0, 2, N) == 1, 3.0, -1.5)
SHIFT = RNG.normal(size=N)
WEIGHT = RNG.dirichlet(np.ones(N))
SCORES = RNG.normal(size=(N, 1))


@pytest.fixture
def risk():
    return MarginRisk(logistic, SLOPE, SHIFT, WEIGHT)


def test_values_and_derivatives(risk):
    u = [a * h + b for a, b, h in zip(SLOPE, SHIFT, SCORES[:, 0], strict=True)]
    losses = [w * np.log1p(np.exp(-x)) for w, x in zip(WEIGHT, u, strict=True)]
    slopes = [-w * a / (1 + np.exp(x)) for w, a, x in zip(WEIGHT, SLOPE, u, strict=True)]
    bends = [
        w * a**2 / (2 + np.exp(x) + np.exp(-x)) for w, a, x in zip(WEIGHT, SLOPE, u, strict=True)
    ]
    value, gradient = risk.value_gradient(SCORES)
    assert value == pytest.approx(sum(losses), rel=1e-12)
    np.testing.assert_allclose(gradient[:, 0], slopes, rtol=1e-10)
    np.testing.assert_allclose(risk.curvature(SCORES).diagonal()[:, 0], bends, rtol=1e-10)


def test_every_third_sample(risk):
    own = slice(None, None, 3)
    part = risk.every(3)
    expected = MarginRisk(logistic, SLOPE[own], SHIFT[own], WEIGHT[own] / WEIGHT[own].sum())
    assert part.value(SCORES[own]) == expected.value(SCORES[own])
    assert part.weight.sum() == pytest.approx(1)


def test_single_precision(risk):
    value, gradient = risk.single().value_gradient(SCORES.astype(np.float32))
    assert gradient.dtype == np.float32
    assert value == pytest.approx(risk.value(SCORES), rel=1e-6)


def test_smoothness_is_that_of_the_surrogate(risk):
    kinked = MarginRisk(hinge, SLOPE, SHIFT, WEIGHT)
    assert risk.smooth
    assert not kinked.smooth
    assert kinked.envelope(None, 10.0).smooth


def test_the_dual_value_bounds_the_hinge():
    kinked = MarginRisk(hinge, SLOPE, SHIFT, WEIGHT)
    envelope = kinked.envelope(-RNG.uniform(size=N), 5.0)
    _, gradient, value = envelope.dual(SCORES)
    # By Fenchel and Young, for all scores.
    for scores in (SCORES, 2 * SCORES, np.zeros_like(SCORES)):
        assert kinked.value(scores) >= np.vdot(gradient, scores) + value - 1e-12
