"""Quadratic models with their matrix, in NumPy and compiled."""

import numpy as np
import pytest

from immax.penalties import ElasticNet, GroupNorm, L1Norm
from immax.solvers import gram_descent
from immax.solvers.gram_descent import GramModel
from immax.solvers.selections import select_blocks


def make_model(omega, p=30, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rank or 2 * p, p))
    blocks = omega.blocks((1, p))
    selection = select_blocks(blocks, np.ones(blocks.weights.size, dtype=bool), (1, p), 5.0)
    gradient = A.T @ rng.normal(size=A.shape[0])  # bounded below, whatever the rank
    return GramModel(A.T @ A, gradient, rng.normal(size=p), selection)


PENALTIES = [L1Norm(), ElasticNet(0.5), GroupNorm(np.arange(30) // 3)]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("omega", PENALTIES)
def test_the_optimality_conditions_hold(omega, compiled, monkeypatch):
    if compiled:
        pytest.importorskip("numba")
    monkeypatch.setattr(gram_descent, "SMALLEST_FOR_NUMBA", 0 if compiled else 10**9)
    model = make_model(omega)
    z = model.minimise(1e-10)
    gradient = model.gradient + model.hessian @ (z - model.start)
    assert model.selection.violations(z, gradient).max() <= 1e-8
    assert np.count_nonzero(z) > 0


@pytest.mark.parametrize("seed", range(4))
def test_groups_of_columns_of_unlike_sizes(seed):
    rng = np.random.default_rng(seed)
    p = 18
    A = rng.normal(size=(60, p)) * np.logspace(-3, 3, p)
    omega = GroupNorm(np.arange(p) // 3)
    selection = select_blocks(omega.blocks((1, p)), np.ones(6, dtype=bool), (1, p), 0.05)
    target = A @ rng.normal(size=p) + rng.normal(size=60)
    H, start = A.T @ A / 60, rng.normal(size=p)
    model = GramModel(H, A.T @ (A @ start - target) / 60, start, selection)
    z = model.minimise(1e-8)
    gradient = model.gradient + H @ (z - start)
    assert selection.violations(z, gradient).max() <= 1e-6


@pytest.mark.parametrize("p", [12, 150])
@pytest.mark.parametrize("kind", ["l1", "elasticnet", "groups"])
def test_without_numba_few_blocks_are_visited(kind, p, monkeypatch):
    omega = {"l1": L1Norm(), "elasticnet": ElasticNet(0.3), "groups": GroupNorm(np.arange(p) // 3)}
    monkeypatch.setattr(gram_descent, "has_numba", lambda: False)
    visited = []
    original = gram_descent._descend

    def descend(*arguments):
        visited.extend(arguments[-1])
        original(*arguments)

    monkeypatch.setattr(gram_descent, "_descend", descend)
    model = make_model(omega[kind], p)
    z = model.minimise(1e-9)
    gradient = model.gradient + model.hessian @ (z - model.start)
    assert model.selection.violations(z, gradient).max() <= 1e-8
    assert len(visited) <= 4 * p


@pytest.mark.parametrize("omega", PENALTIES)
def test_a_tolerance_below_the_rounding_ends_as_well(omega, monkeypatch):
    rounds = []
    descend = gram_descent._descend
    monkeypatch.setattr(
        gram_descent, "_descend", lambda *arguments: rounds.append(1) or descend(*arguments)
    )
    model = make_model(omega)
    z = model.minimise(0.0)
    assert len(rounds) < gram_descent.MAX_ROUNDS / 2
    gradient = model.gradient + model.hessian @ (z - model.start)
    assert model.selection.violations(z, gradient).max() <= 1e-11


@pytest.mark.parametrize("omega", PENALTIES)
def test_a_singular_matrix_does_not_loop_for_ever(omega):
    model = make_model(omega, rank=10)
    z = model.minimise(1e-8)
    gradient = model.gradient + model.hessian @ (z - model.start)
    before = model.selection.violations(model.start, model.gradient).max()
    assert model.selection.violations(z, gradient).max() <= 0.05 * before
