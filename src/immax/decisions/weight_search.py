"""Class weights that serve an aim best, for three classes and more.

Decisions are ``argmax_k (log p_k + b_k)``. Along one ``b_k`` all values that decide differently are
tried at once: as it grows, samples move to class k in the order of how far behind it is. Passes
over the classes are made from several starts, since a single ascent ends at a local optimum. One
of the starts is a fixed point in the manner of Dinkelbach: the aim is replaced by its linear
approximation at the present confusion matrix, whose best weights have a closed form.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.decisions.aims import Aim

__all__ = ["search_weights"]

MOST_CUTS = 256
MOST_ENTRIES = 4_000_000  # of the confusion matrices of one line
MOST_PASSES = 12
MOST_LINEARISATIONS = 20
STEP = 1e-4  # of the numerical derivative, as a share of all samples


def search_weights(
    proba: Array, soft: Array, aim: Aim, prior: Array, *, quick: bool = False
) -> Array:
    """Return the weights of the best value that was found, the largest of them one.

    Parameters
    ----------
    proba : ndarray of shape (n, c)
    soft : ndarray of shape (n, c)
        How much each sample counts for each class.
    aim : Aim
    prior : ndarray of shape (c,)
    quick : bool, default=False
        Make two passes from one start, the square roots of the inverse class shares.

    Returns
    -------
    ndarray of shape (c,)
    """
    log_p = np.log(np.maximum(proba, np.finfo(np.float64).tiny))
    log_prior = np.log(prior)
    best, best_value = np.zeros(len(prior)), -np.inf
    passes = 2 if quick else MOST_PASSES
    # from the plain rule to that of balanced accuracy
    starts = [power * log_prior for power in ((-0.5,) if quick else (0.0, -0.5, -1.0))]
    if not quick:
        starts.append(_linearised(log_p, soft, aim, starts[1]))
    for start in starts:
        offsets, value = _ascend(log_p, soft, aim, start, passes)
        if value > best_value + 1e-9:
            best, best_value = offsets, value
    return np.asarray(np.exp(best - best.max()))


def _ascend(
    log_p: Array, soft: Array, aim: Aim, offsets: Array, passes: int
) -> tuple[Array, float]:
    offsets = offsets.copy()
    value = _value(log_p, soft, aim, offsets)
    for _ in range(passes):
        before = value
        for k in np.argsort(soft.sum(axis=0)):  # rare classes first: they matter most
            offset, new = _line(log_p, soft, aim, offsets, int(k))
            if new > value + 1e-9:
                offsets[k], value = offset, new
        if value <= before + 1e-6:
            break
    return offsets, value


def _confusion(log_p: Array, soft: Array, offsets: Array) -> Array:
    c = log_p.shape[1]
    decisions = np.argmax(log_p + offsets, axis=1)
    return np.stack([np.bincount(decisions, weights=soft[:, k], minlength=c) for k in range(c)])


def _value(log_p: Array, soft: Array, aim: Aim, offsets: Array) -> float:
    return float(aim.value(_confusion(log_p, soft, offsets)))


def _linearised(log_p: Array, soft: Array, aim: Aim, offsets: Array) -> Array:
    """Return the best of the offsets that follow from repeated linear approximations of the aim.

    Where the aim is linear with gradient G, the gain of a decision for class k is
    ``sum_j p_j G_jk``. The weight of a class is what a right decision for it gains over the
    present wrong ones.
    """
    best, best_value = offsets, _value(log_p, soft, aim, offsets)
    for _ in range(MOST_LINEARISATIONS):
        confusion = _confusion(log_p, soft, offsets)
        gradient = _gradient(aim, confusion)
        wrong = confusion + STEP * confusion.sum(axis=1, keepdims=True)  # none is empty
        np.fill_diagonal(wrong, 0)
        lost = (wrong * gradient).sum(axis=0) / wrong.sum(axis=0)
        weights = np.diagonal(gradient) - lost
        if not (weights > 0).all():
            break
        offsets = np.log(weights)
        value = _value(log_p, soft, aim, offsets)
        if value <= best_value + 1e-9:
            break
        best, best_value = offsets, value
    return best


def _gradient(aim: Aim, confusion: Array) -> Array:
    """Return the derivatives of the aim in the entries of the confusion matrix."""
    c = len(confusion)
    moves = STEP * confusion.sum() * np.eye(c * c).reshape(c * c, c, c)
    ahead, behind = aim.value(confusion + moves), aim.value(np.maximum(confusion - moves, 0))
    steps = (confusion + moves - np.maximum(confusion - moves, 0)).sum(axis=(1, 2))
    return np.asarray((ahead - behind) / steps).reshape(c, c)


def _line(log_p: Array, soft: Array, aim: Aim, offsets: Array, k: int) -> tuple[float, float]:
    """Return the best offset of class k, the others given, and the value there."""
    n, c = log_p.shape
    scores = log_p + offsets
    scores[:, k] = -np.inf
    rival = np.argmax(scores, axis=1)
    behind = scores[np.arange(n), rival] - log_p[:, k]
    order = np.argsort(behind, kind="stable")
    n_cuts = min(n, MOST_CUTS, max(8, MOST_ENTRIES // c**2))
    cuts = np.unique(np.linspace(0, n, n_cuts + 1).round().astype(int))
    segment = np.empty(n, dtype=np.intp)
    segment[order] = np.searchsorted(cuts, np.arange(n), side="right")  # after which cut it moves
    base = np.zeros((c, c))
    moved = np.zeros((cuts.size + 1, c, c))
    for j in range(c):
        base[j] = np.bincount(rival, weights=soft[:, j], minlength=c)
        flat = np.bincount(
            segment * c + rival, weights=soft[:, j], minlength=(cuts.size + 1) * c
        ).reshape(-1, c)
        moved[:, j] = -flat
        moved[:, j, k] += flat.sum(axis=1)
    # cut t: the first cuts[t] samples of the order belong to class k
    steps = np.cumsum(moved[1:], axis=0)
    confusion = base + np.concatenate([np.zeros((1, c, c)), steps[: cuts.size - 1]])
    values = aim.value(np.maximum(confusion, 0))
    t = int(np.argmax(values))
    ahead = behind[order]
    low = ahead[cuts[t] - 1] if cuts[t] > 0 else ahead[0] - 2
    high = ahead[cuts[t]] if cuts[t] < n else ahead[-1] + 2
    offset = (low + high) / 2
    return float(offset), float(values[t])
