"""The sample on the driver."""

import numpy as np
import pytest
from parted_cases import rows
from scipy import sparse

from immax.distributed.reduction import add_all
from immax.distributed.row_losses import IMMAXRows
from immax.distributed.row_part import RowPart
from immax.distributed.samples import (
    draw_rows,
    exact_preconditioner,
    join_rows,
    most_wide_entries,
    sampled_preconditioner,
    sampled_problem,
    sampled_start,
    sampling_rates,
    uses_diagonal,
)
from immax.solvers.newton import hessian


def test_rare_classes_are_sampled_more():
    rates = sampling_rates(np.array([1e6, 1e5, 100.0]), 1_100_100, 50 * 1_100_100, 51)
    assert rates[2] == 1
    expected = rates * [1e6, 1e5, 100]
    assert expected[0] == pytest.approx(expected[1])
    assert expected.sum() == pytest.approx(50_000)
    assert (sampling_rates(np.array([50.0, 20.0]), 70, 140, 3) == 1).all()
    fewer = sampling_rates(np.array([5e5, 5e5]), 10**6, 10**10, 10, most_entries=10**6)
    assert fewer.max() == pytest.approx(1e-4)
    # The entries of a wide table are limited.
    assert sampling_rates(np.array([5e5, 5e5]), 10**6, 10**10, 10).max() == pytest.approx(4e-4)


def test_samples_of_very_wide_rows_are_smaller():
    enough = most_wide_entries(10**6, 40 * 10**6, 5000)
    assert most_wide_entries(10**6, 40 * 10**6, 20_000) == enough // 4
    assert most_wide_entries(10_000, 1000, 5000) == enough // 4
    assert most_wide_entries(0, 0, 5000) == enough // 4


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_the_sample_stands_for_all_rows(sparse_rows):
    X, y = rows(3, 6000, sparse_rows=sparse_rows)
    weight = np.random.default_rng(0).uniform(1, 2, 6000)
    places = np.arange(6000)
    rates = np.array([0.3, 0.5, 1.0])
    parts = [
        RowPart(X[own], y[own], weight[own], places[own], places[own] % 2)
        for own in (slice(4000, 6000), slice(0, 4000))
    ]
    drawn = add_all([draw_rows(part, rates, 2, 0) for part in parts])
    sample = join_rows(drawn)
    assert (np.diff(sample.places) > 0).all()
    np.testing.assert_allclose(
        np.bincount(sample.y, sample.weight), np.bincount(y, weight), rtol=0.06
    )
    assert drawn.held_out.sum() == pytest.approx(weight.sum())
    np.testing.assert_allclose(drawn.held_out[:, 0], np.bincount(y[::2], weight[::2]))


def test_preconditioners_are_inverse_hessians():
    X, y = rows(3, 2000)
    part = RowPart(X, y, np.ones(2000), np.arange(2000))
    loss = IMMAXRows("logistic", "auto", np.ones(3), np.full(3, 1 / 2000))
    problem = sampled_problem(part, loss, 1e-3, True)
    theta = sampled_start(problem, 0)
    curvature = problem.risk.curvature(problem.scores(theta))
    matrix = hessian(problem, curvature)
    gradient = np.random.default_rng(0).normal(size=theta.shape)
    gradient -= gradient.mean(axis=0)  # the risk is constant along the rest
    sampled = sampled_preconditioner(problem, theta, 0)(gradient)
    np.testing.assert_allclose(matrix @ sampled.ravel(), gradient.ravel(), atol=1e-6)
    problem_without = sampled_problem(part, loss, 0.0, True)
    exact = exact_preconditioner(
        hessian(problem_without, curvature), theta.shape, problem.risk.null_direction, 1e-3, True
    )
    np.testing.assert_allclose(exact(gradient), sampled, rtol=1e-6, atol=1e-9)


def test_sparse_rows_with_many_features_use_the_diagonal():
    loss = IMMAXRows("logistic", "auto", np.ones(2), np.full(2, 1 / 50))
    y, weight, places = np.arange(50) % 2, np.ones(50), np.arange(50)
    for d, expected in ((900, False), (1100, True)):
        part = RowPart(sparse.random(50, d, 0.1, "csr"), y, weight, places)
        assert uses_diagonal(sampled_problem(part, loss, 1e-3, True)) == expected
