"""What every risk has: derivatives, Hessians and a direction without a slope."""

import numpy as np
import pytest

from immax.losses.catalog import make_spec
from immax.losses.exponential_risks import ExponentialRisk
from immax.losses.margin_risks import MarginRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.softmax_risks import SoftmaxRisk
from immax.losses.surrogates import SURROGATES, hinge, logistic, max_form

RNG = np.random.default_rng(2)
N, C = 40, 4
LABELS = RNG.integers(0, C, N)
BINARY = RNG.integers(0, 2, N)
WEIGHT = RNG.dirichlet(np.ones(N))
RHO = np.array([0.4, 0.3, 0.2, 0.1])
COUNTS = [700, 250, 45, 5]


def smooth_risks():
    yield "softmax", SoftmaxRisk(make_spec("immax", COUNTS), LABELS, WEIGHT, None)
    yield "focal", SoftmaxRisk(make_spec("focal", COUNTS, gamma=2.0), LABELS, WEIGHT, None)
    yield "vs", SoftmaxRisk(make_spec("vs", COUNTS), LABELS, WEIGHT, None)
    yield "exponential", ExponentialRisk(LABELS, RHO, WEIGHT)
    slope = np.where(BINARY == 1, 3.0, -1.5)
    margin = MarginRisk(hinge, slope, RNG.normal(size=N), WEIGHT)
    yield "binary", MarginRisk(logistic, slope, np.zeros(N), WEIGHT)
    yield "hinge envelope", margin.envelope(-RNG.uniform(size=N), 0.7)
    for name, surrogate in SURROGATES.items():
        base = MaxRisk(surrogate, LABELS, RHO, WEIGHT)
        yield f"{name} max envelope", base.envelope(None, 0.8)
        slopes = max_form(surrogate, RNG.normal(scale=0.1, size=(N, C)), LABELS, RHO)[1]
        yield f"{name} max envelope, carried", base.envelope(slopes, 2.0)


RISKS = dict(smooth_risks())


@pytest.mark.parametrize("name", RISKS)
def test_derivatives_by_finite_differences(name):
    risk = RISKS[name]
    scores = RNG.normal(scale=0.4, size=(N, risk.n_outputs))
    vector = RNG.normal(size=scores.shape)
    step = 1e-6
    value, gradient = risk.value_gradient(scores)
    assert risk.value(scores) == pytest.approx(value, rel=1e-13)
    slope = (risk.value(scores + step * vector) - risk.value(scores - step * vector)) / (2 * step)
    assert np.vdot(gradient, vector) == pytest.approx(slope, rel=1e-6, abs=1e-9)

    ahead = risk.value_gradient(scores + step * vector)[1]
    behind = risk.value_gradient(scores - step * vector)[1]
    bend = (ahead - behind) / (2 * step)
    curvature = risk.curvature(scores)
    close = np.isclose(curvature.product(vector), bend, rtol=1e-4, atol=1e-7).all(axis=1)
    # An envelope's curvature jumps where its active set changes.
    assert close.mean() >= (0.9 if "envelope" in name else 1.0)

    k = risk.n_outputs
    full = np.stack([curvature.product(np.tile(e, (N, 1))) for e in np.eye(k)], axis=2)
    np.testing.assert_allclose(curvature.diagonal(), np.einsum("njj->nj", full), atol=1e-12)
    np.testing.assert_allclose(curvature.total(), full.sum(axis=0), atol=1e-12)
    for a in range(k):
        for b in range(k):
            np.testing.assert_allclose(curvature.block(a, b), full[:, a, b], atol=1e-12)


@pytest.mark.parametrize("name", RISKS)
def test_the_null_direction_is_flat(name):
    risk = RISKS[name]
    scores = RNG.normal(size=(N, risk.n_outputs))
    if risk.null_direction is None:
        assert risk.n_outputs == 1
        return
    moved = scores + RNG.normal(size=(N, 1)) * risk.null_direction
    assert risk.value(moved) == pytest.approx(risk.value(scores), rel=1e-12)
