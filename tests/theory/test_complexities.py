"""Complexities that know their scores and margins."""

import pickle

import numpy as np
import pytest

from immax.theory import estimate_kernel, estimate_linear
from immax.theory.complexities import Complexity, check_complexity


def test_a_complexity_is_a_float():
    own = Complexity(0.3, 1, [1.0, 2.0])
    assert own == 0.3
    assert type(2 * own) is float
    again = pickle.loads(pickle.dumps(own))
    assert (again, again.n_scores, again.rho.tolist()) == (0.3, 1, [1.0, 2.0])
    assert check_complexity(own, 1, np.array([1.0, 2.0])) == 0.3
    assert check_complexity(0.3, 7, np.ones(7)) == 0.3


def test_estimates_know_too():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    for found in (
        estimate_linear(X, y, [1.0, 2.0], 1.0, n_draws=5, random_state=0),
        estimate_kernel(X @ X.T, y, [1.0, 2.0], 1.0, n_draws=5, random_state=0),
    ):
        assert found.low < found.mean < found.high
        assert found.high.n_scores == 1
        with pytest.raises(ValueError, match="multiclass=True"):
            check_complexity(found.high, 2, np.array([1.0, 2.0]))


def test_bad_input():
    for value in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="complexity must be a number of at least 0"):
            check_complexity(value, 1, np.ones(2))
