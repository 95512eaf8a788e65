"""The methods of the catalogue as risks, of c scores and of a single one."""

import numpy as np
import pytest

from immax.losses.catalog import make_spec
from immax.losses.softmax_risks import SoftmaxRisk, binary_risk

RNG = np.random.default_rng(2)
N = 40
BINARY = RNG.integers(0, 2, N)
WEIGHT = RNG.dirichlet(np.ones(N))


def test_a_risk_is_the_weighted_mean_of_the_losses():
    spec = make_spec("vs", [700, 250, 45, 5])
    y, scores = RNG.integers(0, 4, N), RNG.normal(size=(N, 4))
    risk = SoftmaxRisk(spec, y, WEIGHT, None)
    expected = sum(w * loss for w, loss in zip(WEIGHT, spec.loss(scores, y), strict=True))
    assert risk.value(scores) == pytest.approx(expected, rel=1e-12)
    single = risk.single().value_gradient(scores.astype(np.float32))[1]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, risk.value_gradient(scores)[1], atol=1e-6)


@pytest.mark.parametrize("method", ["immax", "ce", "rw", "bs", "la", "cb", "focal", "ldam", "vs"])
def test_binary_risk_is_the_softmax_of_half_scores(method):
    spec = make_spec(method, [900, 100])
    score = RNG.normal(size=(N, 1))
    binary = binary_risk(spec, BINARY, WEIGHT, None)
    pair = SoftmaxRisk(spec, BINARY, WEIGHT, None)
    value, gradient = pair.value_gradient(np.hstack([-score / 2, score / 2]))
    assert binary.value(score) == pytest.approx(value, rel=1e-12)
    expected = (gradient[:, 1] - gradient[:, 0]) / 2
    np.testing.assert_allclose(binary.value_gradient(score)[1][:, 0], expected, atol=1e-15)


def test_binary_equal_leaves_out_dropped_negatives():
    spec = make_spec("equal", [9990, 10], p=0.5)
    drop = spec.draw(N, 0)
    score = RNG.normal(size=(N, 1))
    pair = SoftmaxRisk(spec, BINARY, WEIGHT, drop)
    value = pair.value(np.hstack([-score / 2, score / 2]))
    assert binary_risk(spec, BINARY, WEIGHT, drop).value(score) == pytest.approx(value, rel=1e-12)
