"""Newton's quadratic model minimised over one coefficient after the other (needs Numba)."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.solvers.local_models import CONSTANT, LocalModel, Step

__all__ = ["column_step"]

PASSES = 20  # over all coefficients of a class
MAX_SWEEPS = 100  # over the classes


def column_step(model: LocalModel, tol: float) -> Step:
    """Minimise the model by coordinate descent on the columns of the features.

    The classes take turns; within one, its bias follows every change.

    Parameters
    ----------
    model : LocalModel
        What to minimise; every block of its penalty is a single coefficient.
    tol : float
        How much a coefficient may violate the optimality conditions.

    Returns
    -------
    Step
    """
    k, n = model.n_outputs, model.columns.X.shape[0]
    diagonal = model.curvature.diagonal()
    classes = [_ClassModel(model, a, diagonal[:, a]) for a in range(k)]
    z, biases = model.z.copy(), np.zeros(k)
    moved = np.zeros((n, k), order="F")
    for sweep in range(1 if k == 1 else MAX_SWEEPS):
        worst, reached = 0.0, True
        for a, own in enumerate(classes):
            if sweep == 0 and a == 0:
                slopes = np.zeros(n)
            else:
                bent = model.curvature.product(moved.astype(model.columns.source.dtype, copy=False))
                slopes = bent[:, a].astype(np.float64)
            change, moved_by, left = own.descend(z, slopes, tol)
            worst, reached = max(worst, moved_by), reached and left <= tol
            if k > 1:
                moved[:, a] += own.scores(z) + change
            biases[a] += change
        if worst <= tol:
            break
    return Step(z, biases, reached)


class _ClassModel:
    """The part of the model that belongs to one class."""

    def __init__(self, model: LocalModel, a: int, curvature: Array) -> None:
        selection = model.selection
        self.model = model
        self.places = np.flatnonzero(selection.rows == a)
        self.columns = model.local[self.places]
        self.h = np.ascontiguousarray(curvature, dtype=np.float64)
        self.gradient = model.gradient[self.places]
        self.start = model.z[self.places]
        self.thresholds = selection.thresholds[self.places]
        self.ridges = np.full(self.places.size, 2 * selection.ridge)
        self.damping = model.damping_diagonal[self.places]
        self.bias_slope = None if model.bias_slope is None else float(model.bias_slope[a])
        self.total = 0.0 if self.bias_slope is None else float(self.h.sum())
        self.sums, squares = np.empty(self.places.size), np.empty(self.places.size)
        self._moments(squares)
        left = squares - self.sums**2 / self.total if self.total > 0 else squares
        flat = left <= CONSTANT * squares
        left[flat] = 0
        stays = model.made_up_for(flat, self.columns)
        self.curvatures = np.where(stays, 0, left + self.damping + self.ridges)
        self._scored = self.start.copy()

    def _moments(self, squares: Array) -> None:
        from immax.compiled.column_descent import column_moments

        column_moments(*self.model.columns.flat, self.columns, self.h, self.sums, squares)

    def descend(self, z: Array, slopes: Array, tol: float) -> tuple[float, float, float]:
        """Change the coefficients of the class in place.

        Returns the change of its bias, and the largest change of a coefficient times its
        curvature: in all passes, and in the last of them.
        """
        from immax.compiled.column_descent import column_passes

        own = z[self.places]
        first = 0.0
        if self.bias_slope is not None and self.total > 0:
            first = -(self.bias_slope + float(slopes.sum())) / self.total
        left, change = column_passes(
            *self.model.columns.flat,
            self.columns,
            self.h,
            slopes,
            self.gradient,
            self.start,
            own,
            self.thresholds,
            self.ridges,
            self.damping,
            self.curvatures,
            self.sums,
            np.empty(own.size, dtype=np.bool_),
            self.total,
            first,
            PASSES,
            tol,
        )
        moved = np.abs(own - z[self.places]) * self.curvatures
        z[self.places] = own
        return change, float(moved.max(initial=0)), left

    def scores(self, z: Array) -> Array:
        """Return the scores of what the coefficients have changed since the last call."""
        own = z[self.places]
        delta = np.zeros(self.model.columns.X.shape[1], dtype=self.model.columns.X.dtype)
        delta[self.columns] = own - self._scored
        self._scored = own
        return np.asarray(self.model.columns.X @ delta, dtype=np.float64)
