"""The minimisers of a second-order model, against each other."""

import numpy as np
import pytest
from problems import make_local_model

from immax.penalties import ElasticNet, GroupNorm, L1Norm
from immax.solvers.local_models import accelerated_step, gram_step


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
