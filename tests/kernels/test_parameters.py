"""The parameters of kernel machines."""

import numpy as np
import pytest
from scipy import sparse

from immax.kernels.machine import MachineOptions
from immax.kernels.parameters import check_parameters, resolve_gamma


def test_gamma_is_scikit_learn_s_and_counts_weights():
    X = np.random.default_rng(0).normal(size=(20, 3))
    weight = np.random.default_rng(1).integers(0, 3, 20)
    repeated = np.repeat(X, weight, axis=0)
    for features in (X, sparse.csr_matrix(X)):
        assert resolve_gamma("scale", features, weight) == pytest.approx(1 / (3 * repeated.var()))
        assert resolve_gamma("auto", features, weight) == pytest.approx(1 / 3)
        assert resolve_gamma(0.7, features, weight) == 0.7
    assert resolve_gamma("scale", np.ones((4, 2)), np.ones(4)) == 1.0
    far = resolve_gamma("scale", X + 1e8, weight)
    assert far == pytest.approx(1 / (3 * repeated.var()), rel=1e-6)


def test_bad_parameters_are_named():
    options = MachineOptions()
    check_parameters("rbf", "scale", "max", options)
    check_parameters(lambda A, B: A @ B.T, 0.1, "ovo", options, C=2.0, lam=0.1)
    for arguments, message in [
        (("gauss", "scale", "max", options), "kernel must be one of"),
        (("rbf", "wide", "max", options), "gamma must be one of"),
        (("rbf", 0.0, "max", options), "gamma must be a positive"),
        (("rbf", 1.0, "ovr", options), "multiclass must be one of"),
        (("rbf", 1.0, "max", MachineOptions(tol=0)), "tol must be a positive"),
        (("rbf", 1.0, "max", MachineOptions(max_iter=0)), "max_iter must be"),
        (("rbf", 1.0, "max", MachineOptions(cache_size=-1)), "cache_size must be a positive"),
        (("rbf", 1.0, "max", options, 0.0), "C must be a positive"),
        (("rbf", 1.0, "max", options, 1.0, 0.0), "lam must be a positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_parameters(*arguments)


@pytest.mark.parametrize("degree", [np.nan, np.inf, -1, 2.5, "2", None])
def test_bad_degrees_are_named(degree):
    with pytest.raises(ValueError, match="degree must be a whole number"):
        check_parameters("poly", "scale", "max", MachineOptions(), degree=degree)


@pytest.mark.parametrize("coef0", [np.nan, np.inf, "1", None])
def test_bad_constants_are_named(coef0):
    with pytest.raises(ValueError, match="coef0 must be a finite number"):
        check_parameters("poly", "scale", "max", MachineOptions(), coef0=coef0)
