"""When problems are started in single precision, and to which tolerance."""

import numpy as np
import pytest
from problems import make_problem
from scipy import sparse

from immax.solvers import Problem
from immax.solvers.single_precision import (
    benefits_from_single_precision,
    in_single_precision,
    single_precision_tol,
)


def test_only_large_problems_in_double_precision():
    risk = make_problem("immax", 2).risk
    large = np.zeros((1000, 1000))
    assert benefits_from_single_precision(Problem(large, risk, 0.1))
    assert not benefits_from_single_precision(Problem(large[1:], risk, 0.1))
    assert not benefits_from_single_precision(Problem(large.astype(np.float32), risk, 0.1))
    assert not benefits_from_single_precision(Problem(sparse.csr_matrix(large), risk, 0.1))


@pytest.mark.parametrize("c", [2, 3])
def test_the_same_problem_in_single_precision(c):
    problem = make_problem("immax", c)
    single = in_single_precision(problem)
    theta = 0.1 * np.random.default_rng(0).normal(size=problem.shape)
    assert single.dtype == np.float32
    rounded = single.objective(theta.astype(np.float32))
    assert rounded == pytest.approx(problem.objective(theta), rel=1e-5)


def test_the_tolerance_is_rough_where_blocks_follow():
    problem = make_problem("immax", 2)
    assert single_precision_tol(problem) == 1e-3
    wide = Problem(sparse.csr_matrix((120, 2000)), problem.risk, 0.1)
    assert single_precision_tol(wide) == 1e-5
    # As many features as these make a block dear, and none is built from the solution.
    square = Problem(np.zeros((500, 500)), problem.risk, 0.1)
    assert single_precision_tol(square) == 1e-5
