"""The minimum of a problem in parts, against the solvers of data in memory."""

import numpy as np
import pytest
from parted_cases import LocalParts, rows
from scipy import sparse

from immax.distributed import minimisation
from immax.distributed.descent import Descent, Stopping
from immax.distributed.evaluation import Cell
from immax.distributed.minimisation import PartsProblem, minimise, run_rounds
from immax.distributed.row_losses import IMMAXRows
from immax.distributed.row_part import RowPart
from immax.solvers import Problem, solve


def parts_of(X, y, cuts, folds=None):
    places = np.arange(len(y))
    folds = places % 4 if folds is None else folds
    return [
        RowPart(X[own], y[own], np.ones(len(y[own])), places[own], folds[own])
        for own in (slice(0, cuts), slice(cuts, cuts), slice(cuts, None))
    ]


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
@pytest.mark.parametrize("keeps_scores", [True, False])
def test_every_way_leads_to_the_optimum(solver, keeps_scores):
    X, y = rows(3, 2000)
    X = X * np.logspace(-1, 1, X.shape[1])
    loss = IMMAXRows("logistic", "auto", np.array([1.5, 0.9, 0.6]), np.full(3, 1 / 2000))
    parts = LocalParts(parts_of(X, y, 1500), keeps_scores)
    every = np.arange(0, 2000, 5)
    sample = RowPart(X[every], y[every], np.full(every.size, 5.0), every)
    problem = PartsProblem(parts, sample, loss, 1e-4, True)
    found = minimise(problem, solver, Stopping(1e-11))
    whole = RowPart(X, y, np.ones(2000), np.arange(2000))
    expected = solve(Problem(X, whole.risk(loss), 1e-4), tol=1e-12)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-10)
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-6)
    assert parts.n_rounds < 25


def test_a_sample_that_misleads_is_given_up():
    X, y = rows(2, 2000)
    X = 30 * X
    loss = IMMAXRows("exponential", "auto", np.ones(2), np.full(2, 1 / 2000))
    parts = LocalParts(parts_of(X, y, 1500))
    few = np.r_[0:6, 1994:2000]  # that can be separated: exponential losses of others are huge
    sample = RowPart(X[few], y[few], np.full(12, 2000 / 12), few)
    found = minimise(PartsProblem(parts, sample, loss, 1e-3, True), stopping=Stopping(1e-9))
    whole = RowPart(X, y, np.ones(2000), np.arange(2000))
    expected = solve(Problem(X, whole.risk(loss), 1e-3), tol=1e-11)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)


def test_wide_rows_have_the_diagonal_of_all_of_them(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random(3000, 1500, 0.01, "csr", random_state=0, data_rvs=rng.standard_normal)
    y = (X @ rng.normal(size=1500) + rng.logistic(size=3000) > 1).astype(int)
    loss = IMMAXRows("logistic", "auto", np.array([1.2, 0.8]), np.full(2, 1 / 3000))
    every = np.arange(0, 3000, 10)
    sample = RowPart(X[every], y[every], np.full(every.size, 10.0), every)
    given = []
    inner = minimisation.invert_diagonal
    monkeypatch.setattr(
        minimisation,
        "invert_diagonal",
        lambda problem, diagonal: given.append(diagonal) or inner(problem, diagonal),
    )
    problem = PartsProblem(LocalParts(parts_of(X, y, 1500)), sample, loss, 1e-3, True)
    found = minimise(problem, stopping=Stopping(1e-9))
    whole = RowPart(X, y, np.ones(3000), np.arange(3000))
    expected = solve(Problem(X, whole.risk(loss), 1e-3), tol=1e-11)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    assert len(given) == 1
    assert given[0].shape == (1, 1501)
    assert problem.parts.n_rounds < 25


def test_shorter_steps_need_no_products(monkeypatch):
    X, y = rows(2, 2000)
    loss = IMMAXRows("logistic", "auto", np.ones(2), np.full(2, 1 / 2000))
    parts = LocalParts(parts_of(X, y, 1500))
    every = np.arange(0, 2000, 5)
    sample = RowPart(X[every], y[every], np.full(every.size, 5.0), every)
    monkeypatch.setattr(  # so that the first steps are too long
        minimisation, "sampled_preconditioner", lambda *_: lambda gradient: 1000 * gradient
    )
    products, inner = [], RowPart.products
    monkeypatch.setattr(
        RowPart, "products", lambda part, W: products.append(len(W)) or inner(part, W)
    )
    problem = PartsProblem(parts, sample, loss, 1e-2, True)
    found = minimise(problem, "lbfgs", Stopping(1e-6))
    assert found.converged
    assert found.n_iter < parts.n_rounds - 1  # there were shorter steps
    assert max(products) == 1


def test_many_problems_in_the_same_rounds():
    X, y = rows(2, 2000)
    parts = LocalParts(parts_of(X, y, 700))
    losses = [
        IMMAXRows("logistic", "auto", rho, np.full(2, 1 / 1500))
        for rho in (np.ones(2), np.array([1.2, 0.8]))
    ]
    cells = [Cell(loss, fold) for loss in losses for fold in range(4)]
    lams = [1e-2, 1e-3] * 4
    stopping = Stopping(1e-12, certified=False)
    descents = [
        Descent([np.zeros((1, 9))], lam, True, lambda g: g, stopping, X.dtype, number)
        for number, lam in enumerate(lams)
    ]
    thetas = run_rounds(parts, cells, descents, True)
    assert parts.n_rounds == pytest.approx(max(descent.n_iter for descent in descents), abs=8)
    for cell, lam, theta in zip(cells, lams, thetas, strict=True):
        kept = np.arange(2000) % 4 != cell.left_out
        own = RowPart(X[kept], y[kept], np.ones(1500), np.arange(1500))
        expected = solve(Problem(X[kept], own.risk(cell.loss), lam), tol=1e-12)
        np.testing.assert_allclose(theta, expected.theta, atol=1e-5)
