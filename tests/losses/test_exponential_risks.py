"""The exponential sum form; ``test_risks.py`` has its derivatives."""

import numpy as np
import pytest

from immax.losses.exponential_risks import ExponentialRisk

RNG = np.random.default_rng(3)


def test_the_value_is_the_paper_s_sum():
    y, rho, weight = RNG.integers(0, 3, 20), np.array([1.4, 1.0, 0.6]), RNG.dirichlet(np.ones(20))
    scores = RNG.normal(size=(20, 3))
    expected = 0.0
    for i, k in enumerate(y):
        others = [j for j in range(3) if j != k]
        expected += weight[i] * sum(np.exp((scores[i, j] - scores[i, k]) / rho[k]) for j in others)
    assert ExponentialRisk(y, rho, weight).value(scores) == pytest.approx(expected)


def test_samples_without_weight_cannot_overflow():
    risk = ExponentialRisk(np.array([0, 1]), np.ones(3), np.array([1.0, 0.0]))
    scores = np.array([[0.0, 0.0, 0.0], [1e6, -1e6, 0.0]])
    value, gradient = risk.value_gradient(scores)
    assert value == pytest.approx(2)
    np.testing.assert_allclose(gradient, [[-2, 1, 1], [0, 0, 0]])
    assert risk.single().value_gradient(scores.astype(np.float32))[1].dtype == np.float32
