"""The machine of two classes, by libsvm."""

import numpy as np
import pytest
from kernel_samples import sample
from scipy.optimize import minimize
from sklearn.svm import SVC

from immax.kernels.binary import binary_machine
from immax.kernels.machine import MachineOptions
from immax.kernels.samples import Points


def two_classes(n=80):
    X, y = sample(n, 2)
    return Points(X, "rbf", 0.3, 3, 0.0), X, y


def test_margins_of_one_are_scikit_learn_s_machine():
    data, X, y = two_classes()
    machine = binary_machine(data, y, np.full(len(y), 2.0), np.ones(2))
    peer = SVC(C=2.0, gamma=0.3, tol=1e-10).fit(X, y)
    scores = machine.coefficients @ np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(2)) + machine.biases
    np.testing.assert_allclose(scores[0], peer.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("rho", [[1.0, 1.0], [1.6, 0.4], [0.3, 5.0]])
def test_the_objective_is_a_minimum(rho):
    """Against the hinge smoothed a little, minimised over the scores' coefficients."""
    rho = np.array(rho)
    data, X, y = two_classes(40)
    limits = np.random.default_rng(0).uniform(0.2, 1, len(y))
    machine = binary_machine(data, y, limits, rho)
    assert machine.gap <= 1e-8 * machine.objective
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(2))
    sign = np.where(y == 1, 1.0, -1.0)
    width = 1e-3

    def objective(parameters):
        a, b = parameters[:-1], parameters[-1]
        u = 1 - sign * (K @ a + b) / rho[y]
        slack = np.where(u > width, u - width / 2, np.maximum(u, 0) ** 2 / (2 * width))
        slope = np.clip(u / width, 0, 1)
        pull = -limits * slope * sign / rho[y]
        return a @ K @ a / 2 + limits @ slack, np.append(K @ (a + pull), pull.sum())

    start = np.append(machine.coefficients[0], machine.biases)
    found = minimize(objective, start, jac=True, method="L-BFGS-B").fun
    assert found <= machine.objective + 1e-9
    assert machine.objective <= found + limits.sum() * width / 2 + 1e-6


def test_a_limit_of_iterations_is_reported():
    data, _, y = two_classes(300)
    machine = binary_machine(data, y, np.ones(len(y)), np.ones(2), MachineOptions(max_iter=1))
    assert not machine.converged
    assert machine.gap > 0
