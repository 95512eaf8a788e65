"""Empirical risks: derivatives, envelopes, proximal maps."""

import numpy as np
import pytest
from scipy.optimize import minimize

from immax.losses.catalog import make_spec
from immax.losses.proximal import max_prox
from immax.losses.risks import (
    ExponentialRisk,
    MarginRisk,
    MaxRisk,
    SoftmaxRisk,
    binary_risk,
)
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


@pytest.mark.parametrize("name", SURROGATES)
def test_max_prox_minimises(name):
    surrogate = SURROGATES[name]
    centre = RNG.normal(size=(12, C))
    y = RNG.integers(0, C, 12)
    margin = RHO[y]
    stiffness = RNG.uniform(0.5, 20, 12)
    point = max_prox(surrogate, centre, y, margin, stiffness)
    for i in range(12):

        def objective(z, i=i):
            others = np.delete(z, y[i])
            loss = surrogate.value(np.asarray((z[y[i]] - others.max()) / margin[i]))
            return float(loss) + stiffness[i] / 2 * np.sum((z - centre[i]) ** 2)

        best = objective(point[i])
        for _ in range(200):
            trial = point[i] + RNG.normal(size=C) * 10 ** RNG.uniform(-6, 0)
            assert objective(trial) >= best - 1e-13
        found = minimize(objective, centre[i], method="Nelder-Mead", options={"maxiter": 4000})
        assert found.fun >= best - 1e-9


@pytest.mark.parametrize("name", SURROGATES)
def test_two_classes_in_the_max_form_are_the_binary_margin(name):
    y = BINARY
    rho = np.array([0.7, 0.3])
    scores = RNG.normal(size=(N, 2))
    slope = np.where(y == 1, 1, -1) / rho[y]
    binary = MarginRisk(SURROGATES[name], slope, np.zeros(N), WEIGHT)
    value = binary.value((scores[:, 1] - scores[:, 0])[:, None])
    assert MaxRisk(SURROGATES[name], y, rho, WEIGHT).value(scores) == pytest.approx(value)


def test_envelope_tends_to_the_risk_as_it_stiffens():
    base = MaxRisk(hinge, LABELS, RHO, WEIGHT)
    scores = RNG.normal(scale=0.1, size=(N, C))
    values = [base.envelope(None, s).value(scores) for s in (1, 10, 100, 1e6)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(base.value(scores), rel=1e-5)
