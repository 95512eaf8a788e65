"""The minimisers of a second-order model, against each other."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_local_model

from immax.penalties import ElasticNet, GroupNorm, L1Norm
from immax.solvers.local_models import FullGram, accelerated_step, gram_step


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("omega", [L1Norm(), ElasticNet(0.5), GroupNorm(np.arange(6) // 2)])
def test_steps_agree_and_meet_the_optimality_conditions(omega, c, intercept):
    model = make_local_model(omega, c, intercept)
    step = gram_step(model, 1e-10)
    moved = model.columns.scores(
        model.columns.weights(model.selection, step.z - model.z, model.n_outputs)
    )
    bent = model.curvature.product(moved + step.biases)
    pulled = model.columns.pull_back(bent)[model.selection.rows, model.local]
    assert model.selection.violations(step.z, model.gradient + pulled).max() <= 1e-7
    if intercept:
        np.testing.assert_allclose(bent.sum(axis=0), -model.bias_slope, atol=1e-7)
    other = accelerated_step(model, 1e-7)
    np.testing.assert_allclose(other.z, step.z, atol=1e-3)


def test_the_matrix_of_all_columns_gives_the_same_step():
    model = make_local_model(L1Norm(), 2, True)
    full = FullGram.at(model.columns, model.curvature)
    step, other = gram_step(replace(model, full_gram=full), 1e-10), gram_step(model, 1e-10)
    np.testing.assert_allclose(step.z, other.z, atol=1e-12)
    np.testing.assert_allclose(step.biases, other.biases, atol=1e-12)


@pytest.mark.parametrize("size", [6, 7])  # without and with a bias
def test_a_corrected_matrix_explains_the_last_step(size):
    model = make_local_model(L1Norm(), 2, True)
    full = FullGram.at(model.columns, model.curvature)
    rng = np.random.default_rng(0)
    step, other = rng.normal(size=(2, size))
    change = 1.3 * full.matrix[:size, :size] @ step + 0.01 * step
    corrected = full.corrected(step, change)
    np.testing.assert_allclose(corrected.matrix[:size, :size] @ step, change)
    assert np.linalg.eigvalsh(corrected.matrix[:size, :size]).min() > 0
    assert abs(other @ change - step @ corrected.matrix[:size, :size] @ other) < 1e-12
    # Changes that rounding or a loss that is not convex may show do not spoil it.
    assert full.corrected(step, -change) is full
    assert full.corrected(step, 1e6 * change) is full
    assert full.corrected(0 * step, 0 * change) is full
