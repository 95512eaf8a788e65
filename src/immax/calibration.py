"""Class probabilities from held-out scores, for losses that do not determine them.

The hinge and the max forms have no exact link. Their probabilities come from a map that is fitted
to scores of samples that the model was not fitted to: a sigmoid for two classes (Platt, 1999), and
for more a softmax with a slope and an offset for each class, which is called vector scaling.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from immax.arrays import Array

__all__ = ["ScoreCalibration", "fit_calibration"]


@dataclass(frozen=True, eq=False)
class ScoreCalibration:
    """Probabilities ``softmax(slope_k h_k + offset_k)``, or a sigmoid for two classes.

    Attributes
    ----------
    slopes, offsets : ndarray of shape (c,), or (1,) for two classes
        Slopes are not negative, so that a higher score never lowers a probability.
    """

    slopes: Array
    offsets: Array

    def proba(self, scores: Array) -> Array:
        """Return class probabilities.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n,) or (n, 1) for two classes
            As ``decision_function`` returns them.

        Returns
        -------
        ndarray of shape (n, c)
        """
        return np.exp(_log_softmax(_as_columns(scores) * self.slopes + self.offsets))


def fit_calibration(
    scores: Array, y: Array, n_classes: int, weight: Array | None = None
) -> ScoreCalibration:
    """Fit the map from scores to probabilities by maximum likelihood.

    The targets are moved a little away from 0 and 1, as if every class had one more sample that
    is wrong, so that separable scores do not lead to infinite slopes.

    Parameters
    ----------
    scores : ndarray of shape (n, c), or (n,) or (n, 1) for two classes
        Scores of samples that the model was not fitted to.
    y : ndarray of int, shape (n,)
        Their class indices.
    n_classes : int
        The number of classes.
    weight : ndarray of shape (n,), optional
        Sample weights.

    Returns
    -------
    ScoreCalibration

    Examples
    --------
    >>> h = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    >>> y = np.array([0, 0, 1, 0, 1, 1])
    >>> fit_calibration(h, y, 2).proba(np.array([0.0])).round(2)
    array([[0.5, 0.5]])
    """
    h = _as_columns(scores).astype(np.float64)
    k = h.shape[1]
    share = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    counts = np.bincount(y, weights=share, minlength=n_classes)
    targets = _smoothed_targets(y, counts)
    share = share / share.sum()
    scale = max(float(np.sqrt(share @ (h**2).mean(axis=1))), np.finfo(np.float64).tiny)
    h = h / scale
    prior = np.log((counts + 1) / (counts + 1).sum())
    offsets = prior if k > 1 else prior[1:] - prior[:1]

    def objective(parameters: Array) -> tuple[float, Array]:
        log_p = _log_softmax(h * parameters[:k] + parameters[k:])
        value = -float(share @ (targets * log_p).sum(axis=1))
        slope = (np.exp(log_p) - targets) * share[:, None]
        slope = slope if k > 1 else slope[:, 1:]
        return value, np.concatenate([(slope * h).sum(axis=0), slope.sum(axis=0)])

    optimum = minimize(
        objective,
        np.concatenate([np.ones(k), offsets]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * k + [(None, None)] * k,
        options={"maxiter": 200},
    )
    return ScoreCalibration(optimum.x[:k] / scale, optimum.x[k:])


def _smoothed_targets(y: Array, counts: Array) -> Array:
    """Return ``(m_y + 1) / (m_y + 2)`` for the own class, the rest spread over the others."""
    c = counts.size
    own = (counts + 1) / (counts + 2)
    others = np.where(np.eye(c, dtype=bool), 0.0, counts + 1e-12)
    others *= ((1 - own) / others.sum(axis=1))[:, None]
    return np.asarray((np.diag(own) + others)[y])


def _as_columns(scores: Array) -> Array:
    return scores[:, None] if scores.ndim == 1 else scores


def _log_softmax(z: Array) -> Array:
    if z.shape[1] == 1:
        z = np.column_stack([np.zeros(len(z)), z])
    z = z - z.max(axis=1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=1, keepdims=True)))
