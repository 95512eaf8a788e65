"""A solved kernel machine, and the options of its solvers."""

from __future__ import annotations

from dataclasses import dataclass

from immax.arrays import Array

__all__ = ["Machine", "MachineOptions"]


@dataclass(frozen=True)
class MachineOptions:
    """Options of the solvers.

    Attributes
    ----------
    tol : float, default=1e-3
        libsvm's stopping tolerance, or the duality gap of the joint machine as a share of its
        objective.
    max_iter : int, default=-1
        The most iterations of libsvm, or working sets of the joint machine; -1 for no limit.
    cache_size : float, default=200
        Megabytes of kernel values to keep.
    """

    tol: float = 1e-3
    max_iter: int = -1
    cache_size: float = 200


@dataclass(frozen=True)
class Machine:
    """Scores ``h_k(x) = sum_i coefficients[k, i] K(x_i, x) + biases[k]``, and their quality.

    The objective is ``1/2 ||W||^2 + sum_i C_i loss_i``; ``gap`` bounds how far it lies above the
    optimum.
    """

    coefficients: Array  # (k, m)
    biases: Array  # (k,)
    objective: float
    gap: float
    n_iter: int
    converged: bool
