"""The best biases, on the scores alone."""

import numpy as np
import pytest
from problems import make_data, make_risk

from immax.losses.margin_risks import MarginRisk
from immax.losses.surrogates import logistic
from immax.solvers.biases import best_biases


@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("kind", ["immax", "exponential-sum", "ldam"])
def test_the_residuals_of_every_output_sum_to_zero(kind, c):
    _, y, weight = make_data(c)
    risk = make_risk(kind, c, y, weight)
    scores = np.random.default_rng(0).normal(size=(y.size, risk.n_outputs))
    before = scores.copy()
    settled = best_biases(risk, scores)
    assert np.abs(settled.residuals.sum(axis=0)).max() <= 1e-9
    np.testing.assert_allclose(settled.scores, before + settled.biases)
    np.testing.assert_array_equal(scores, before)
    assert settled.value <= risk.value(before)


@pytest.mark.parametrize("start", [-50.0, 0.0, 50.0])
@pytest.mark.parametrize("stiffness", [0.25, 16.0, 1e4])
def test_envelopes_without_curvature_are_left(stiffness, start):
    _, y, weight = make_data(2)
    envelope = make_risk("hinge-max", 2, y, weight).envelope(None, stiffness)
    settled = best_biases(envelope, np.full((y.size, 1), start), max_steps=100)
    assert np.abs(settled.residuals.sum(axis=0)).max() <= 1e-9


def test_rounding_of_the_value_does_not_hold_back_flatter_biases():
    rng = np.random.default_rng(0)
    n = 20_000
    slope = np.where(rng.random(n) < 0.2, 1.0, -1.0)
    risk = MarginRisk(logistic, slope, np.zeros(n), np.full(n, 1 / n))
    calls = []

    class Counting:
        def __getattr__(self, name):
            return getattr(risk, name)

        def value_gradient(self, scores):
            calls.append(None)
            return risk.value_gradient(scores)

    for seed in range(20):
        scores = np.random.default_rng(seed).normal(size=(n, 1))
        calls.clear()
        settled = best_biases(Counting(), scores, known=risk.value_gradient(scores))
        assert abs(settled.residuals.sum()) <= 1e-14
        assert len(calls) <= 10
