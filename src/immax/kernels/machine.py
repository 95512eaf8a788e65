"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

from immax.arrays import Array

__all__ = ["Machine"]


@dataclass(frozen=True)
class Machine:
    """Scores ``h_k(x) = sum_i coefficients[k, i] K(x_i, x) + biases[k]``, and how good they are.

    The objective is ``1/2 ||W||^2 + sum_i C_i loss_i``; ``gap`` bounds how far it lies above the
    optimum.
    """

    coefficients: Array  # (k, m)
    biases: Array  # (k,)
    objective: float
    gap: float
    n_iter: int
    converged: bool
