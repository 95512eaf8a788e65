"""Coordinate descent on columns against the model's matrix."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_local_model, make_problem
from scipy import sparse

from immax.penalties import ElasticNet, L1Norm
from immax.solvers import solve, working_sets
from immax.solvers.column_descent import column_step
from immax.solvers.local_models import Step, gram_step

pytest.importorskip("numba")


def model_value(model, step):
    """Return the value of the second-order model."""
    delta = step.z - model.z
    scores = model.columns.scores(
        model.columns.weights(model.selection, delta, model.n_outputs)
    ) + np.asarray(step.biases)
    quadratic = 0.5 * np.sum(scores * model.curvature.product(scores))
    linear = model.gradient @ delta
    if model.bias_slope is not None:
        linear += model.bias_slope @ np.broadcast_to(step.biases, model.n_outputs)
    return linear + quadratic + model.selection.penalty(step.z)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("omega", [L1Norm(), ElasticNet(0.5)])
def test_steps_agree_with_those_of_the_matrix(omega, c, intercept, thin):
    model = make_local_model(omega, c, intercept, order="F")
    expected = gram_step(model, 1e-11)
    if thin:
        columns = replace(model.columns, X=sparse.csc_matrix(model.columns.X))
        model = replace(model, columns=columns)
    step = column_step(model, 1e-11)
    best, start = model_value(model, expected), model_value(model, Step(model.z, 0.0))
    # Classes that take turns are slow to move together, so most of the decrease is enough.
    assert model_value(model, step) <= best + (1e-9 if c == 2 else 1e-3) * (start - best)
    if c == 2:
        np.testing.assert_allclose(step.z, expected.z, atol=1e-5)
        np.testing.assert_allclose(step.biases, expected.biases, atol=1e-5)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("c", [2, 4])
def test_solutions_agree_with_those_of_the_matrix(c, thin, monkeypatch):
    problem = replace(make_problem("immax", c), omega=L1Norm())
    expected = solve(problem, tol=1e-9, polish=False)
    monkeypatch.setattr(working_sets, "MAX_GRAM", 0)
    monkeypatch.setattr(working_sets, "FEW", 0)
    X = sparse.csr_matrix(problem.X) if thin else problem.X
    found = solve(replace(problem, X=X), tol=1e-8, polish=False)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
