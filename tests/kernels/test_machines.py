"""Which machines a problem takes."""

import numpy as np
from kernel_samples import sample

from immax.kernels.binary import binary_machine
from immax.kernels.machine import MachineOptions
from immax.kernels.machines import solve_machines, votes
from immax.kernels.samples import Points

OPTIONS = MachineOptions(tol=1e-6)


def test_pairs_are_machines_of_their_two_classes():
    X, y = sample(90, 3)
    rho, limits = np.array([1.5, 1.0, 0.5]), np.full(90, 0.7)
    data = Points(X, "rbf", 0.3, 3, 0.0)
    machines = solve_machines(data, y, limits, rho, "ovo", OPTIONS)
    assert len(machines) == 3
    members = np.flatnonzero(y != 1)
    alone = binary_machine(
        data.subset(members), (y[members] == 2).astype(int), limits[members], rho[[0, 2]], OPTIONS
    )
    np.testing.assert_allclose(machines[1].coefficients[:, members], alone.coefficients)
    assert not machines[1].coefficients[:, y == 1].any()
    assert machines[1].biases == alone.biases


def test_one_machine_for_two_classes_and_for_all_at_once():
    X, y = sample(60, 3)
    data, limits = Points(X, "rbf", 0.3, 3, 0.0), np.ones(60)
    (joint,) = solve_machines(data, y, limits, np.ones(3), "max", OPTIONS)
    assert joint.coefficients.shape == (3, 60)
    (binary,) = solve_machines(data, y % 2, limits, np.ones(2), "ovo", OPTIONS)
    assert binary.coefficients.shape == (1, 60)


def test_votes():
    # Pairs (0, 1), (0, 2), (1, 2): a positive score is a vote for the second.
    counted = votes(np.array([[1.0, -0.5, -2.0], [-1.0, 3.0, 1.0]]), 3)
    np.testing.assert_array_equal(counted.round(), [[1, 2, 0], [1, 0, 2]])
