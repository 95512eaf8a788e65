"""What a round asks of a part, against the problem of all rows."""

import numpy as np
import pytest
from parted_cases import rows

from immax.distributed import row_part
from immax.distributed.evaluation import Cell, Objective, Trial, evaluate
from immax.distributed.row_losses import IMMAXRows
from immax.distributed.row_part import RowPart
from immax.solvers.newton import hessian
from immax.solvers.problem import Problem


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("name", ["", "fit"])
def test_values_and_derivatives(c, sparse_rows, name, monkeypatch):
    monkeypatch.setattr(row_part, "MOST_SCORES", 5000)
    monkeypatch.setattr(row_part, "CACHED_BYTES", 1)
    X, y = rows(c, 3000, sparse_rows=sparse_rows)
    k = 1 if c == 2 else c
    part = RowPart(X, y, np.ones(3000), np.arange(3000), np.arange(3000) % 4)
    rng = np.random.default_rng(0)
    losses = [
        IMMAXRows("logistic", "auto", rng.uniform(0.5, 2, c), np.full(c, 1 / 3000)) for _ in "ab"
    ]
    cells = (Cell(losses[0]), Cell(losses[1], 2))
    trials = [
        Trial(rng.normal(size=(k, 9)), 0, curvature=True),
        Trial(rng.normal(size=(k, 9)), 1, diagonal=True, bias_curvature=True),
        Trial(rng.normal(size=(k, 9)), 1, gradient=False),
    ]
    found = evaluate(part, Objective(cells, True, name), trials)
    for place, trial in enumerate(trials):
        cell = cells[trial.cell]
        problem = Problem(X, part.risk(cell.loss, cell.left_out), 0.0)
        scores = problem.scores(trial.theta)
        value, residuals = problem.risk.value_gradient(scores)
        assert found.values[place] == pytest.approx(value)
        if not trial.gradient:
            assert found.gradients[place] == 0.0
            continue
        np.testing.assert_allclose(found.gradients[place], problem.pull_back(residuals), atol=1e-12)
        if trial.curvature:
            expected = hessian(problem, problem.risk.curvature(scores))
            np.testing.assert_allclose(found.hessians[place], expected, atol=1e-12)
        if trial.diagonal:
            expected = np.diagonal(hessian(problem, problem.risk.curvature(scores)))
            np.testing.assert_allclose(found.hessians[place].ravel(), expected, atol=1e-12)
        if trial.bias_curvature:
            expected = problem.risk.curvature(scores).total()
            np.testing.assert_allclose(found.bias_hessians[place], expected, atol=1e-12)
        else:
            assert found.bias_hessians[place] == 0.0


def test_scores_that_are_known_need_no_product(monkeypatch):
    X, y = rows(2, 500)
    part = RowPart(X, y, np.ones(500), np.arange(500))
    loss = IMMAXRows("logistic", "auto", np.ones(2), np.full(2, 1 / 500))
    objective = Objective((Cell(loss),), True, "fit")
    a, b = np.random.default_rng(0).normal(size=(2, 1, 9))
    evaluate(part, objective, [Trial(a, name="a"), Trial(b, name="b")])
    between = Trial(0.7 * a + 0.3 * b, gradient=False, parents=(("a", 0.7), ("b", 0.3)))
    bias = np.append(np.zeros(8), 0.4)
    shifted = Trial(a + bias, gradient=False, parents=(("a", 1.0),), shift=bias[-1:])
    with monkeypatch.context() as patch:
        patch.setattr(RowPart, "products", None)
        known = evaluate(part, objective, [between, shifted])
    part.known.clear()  # as after the loss of a worker
    anew = evaluate(part, objective, [between, shifted])
    assert known.values == pytest.approx(anew.values)
    evaluate(part, objective, [Trial(a, name="a")])
    evaluate(part, objective, [Trial(b, name="b", kept=("a",))])
    assert set(part.known) == {"a", "b"}
    evaluate(part, objective, [Trial(b, name="c")])
    assert set(part.known) == {"c"}
