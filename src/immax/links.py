"""Class probabilities from scores.

The minimiser of a loss's conditional risk determines the class probabilities, though not by
a plain softmax. For logistic IMMAX let row k of the matrix A be ``softmax(h / rho_k)`` and q
its stationary distribution, ``q A = q``. Then ``P(y = k | x) ∝ rho_k q_k``. Classes that share
a row are one state of the chain, so g distinct margins cost O(c g + g^3) per sample.

The rules that turn scores or probabilities into labels can be imported from here too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import class_vector
from immax.losses.focal import focal_slope_at
from immax.losses.softmax import adjust_for_every_target, adjust_scores
from immax.losses.spec import LossSpec
from immax.markov_chains import log_sum, normalised, stationary
from immax.plain_rules import by_score, check_costs, decide, highest_argmax
from immax.temperature_chains import select_chain
from immax.threads import in_threads

__all__ = [
    "by_score",
    "check_costs",
    "decide",
    "highest_argmax",
    "immax_proba",
    "spec_proba",
    "stationary",
]

BLOCK_ENTRIES = 2**16  # of the largest temporary array, which then stays in the cache


def immax_proba(
    scores: ArrayLike,
    rho: ArrayLike,
    loss: str = "logistic",
    *,
    expected_calls: int = 1,
    calls: int | None = None,
) -> Array:
    """Return the class probabilities that an IMMAX model's scores determine.

    They are exact where the scores minimise the expected loss at every x, as those of a flexible
    model do up to its training error. Linear scores with unequal margins may not: see "When
    probabilities are exact" in the user guide.

    Parameters
    ----------
    scores : array-like of shape (n, c), or (n,) for two classes
        One-dimensional scores h are those of class 1, as ``decision_function`` returns them;
        scores of both classes are equivalent to their difference ``h_1 - h_0``.
    rho : array-like of shape (c,)
        The margins that the model was trained with, its ``margins_``.
    loss : {"logistic", "exponential"}, default="logistic"
        The surrogate, in the sum form. The hinge and the max forms do not determine
        probabilities.
    expected_calls : int, default=1
        The approximate number of calls of this size; many small ones make it worth compiling
        a kernel.
    calls : int, optional
        Deprecated: use ``expected_calls``.

    Returns
    -------
    ndarray of shape (n, c)
        Rows sum to one.

    Examples
    --------
    At a score of zero class 1 has the probability ``rho_1 / (rho_0 + rho_1)``, not one half:

    >>> immax_proba([0.0], [0.5, 1.5])
    array([[0.25, 0.75]])
    """
    expected_calls = _renamed_calls(calls, expected_calls)
    if loss not in ("logistic", "exponential"):
        raise ValueError(
            f"loss must be 'logistic' or 'exponential'; got {loss!r}, whose scores do not "
            "determine probabilities (calibrate them instead, for example with "
            "sklearn.calibration.CalibratedClassifierCV)"
        )
    margins = class_vector(rho, "rho")
    h = _checked(scores, margins.size)
    if margins.size == 2:
        return _binary_proba(h if h.ndim == 1 else h[:, 1] - h[:, 0], margins, loss)
    inverse, groups = np.unique(1 / margins, return_inverse=True)
    factor = margins.astype(h.dtype)
    chain, entries = select_chain(expected_calls, h.shape, inverse.size)

    def link(block: Array) -> Array:
        q, staying = chain(block, inverse, groups, loss == "exponential")
        return (q if staying is None else q * staying) * factor

    return _by_rows(link, h, entries)


def _renamed_calls(calls: int | None, expected_calls: int) -> int:
    """Return ``expected_calls``, or the deprecated ``calls`` with a warning."""
    if calls is None:
        return expected_calls
    warnings.warn("calls is deprecated: use expected_calls", FutureWarning, stacklevel=3)
    return calls


def _binary_proba(score: Array, rho: Array, loss: str) -> Array:
    """Return the closed form of the chain of two states.

    Logistic: ``P_1 ∝ rho_1 (1 + e^{h / rho_1})`` and ``P_0 ∝ rho_0 (1 + e^{-h / rho_0})``.
    Exponential: ``P_1 / P_0 = rho_1 / rho_0 e^{h / rho_1 + h / rho_0}``. Exponents are clipped
    before they overflow, where the other class's probability is zero.
    """
    margin = rho.astype(score.dtype)
    most = score.dtype.type(0.9 * np.log(np.finfo(score.dtype).max))
    odds = np.ones((2, score.size), score.dtype)
    if loss == "logistic":
        slope = np.array([-1, 1], score.dtype) / margin
        odds += np.exp(np.minimum(score * slope[:, None], most))
    else:
        np.exp(np.minimum(score * (1 / margin).sum(), most), out=odds[1])
    odds *= (margin / margin.sum())[:, None]
    odds /= odds.sum(axis=0)
    return np.ascontiguousarray(odds.T)


def spec_proba(
    scores: ArrayLike, spec: LossSpec, *, expected_calls: int = 1, calls: int | None = None
) -> Array:
    """Return the class probabilities that scores of a catalogue method determine.

    They invert the method's conditional risk, so that class weights, offsets and focus do
    not bias them, and are exact where the scores minimise it, as in ``immax_proba``. With row k
    of A the expected softmax of a sample of class k, and q its stationary distribution,
    ``P_k ∝ q_k temperature_k / (weight_k F'_k)``, where F' is the slope of the focal factor.

    Parameters
    ----------
    scores : array-like of shape (n, c)
        Scores of all classes.
    spec : LossSpec
        The method that the scores were trained with.
    expected_calls : int, default=1
        As in ``immax_proba``.
    calls : int, optional
        Deprecated: use ``expected_calls``.

    Returns
    -------
    ndarray of shape (n, c)
        Rows sum to one.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> spec_proba([[0.0, 0.0]], catalog.rw([900, 100]))
    array([[0.9, 0.1]])
    """
    expected_calls = _renamed_calls(calls, expected_calls)
    h = _checked(scores, spec.n_classes)
    if h.ndim == 1:
        raise ValueError("scores must have shape (n, c); got one dimension")
    factor = (spec.temperature / spec.weight).astype(h.dtype)
    inverse, groups = np.unique(1 / spec.temperature, return_inverse=True)
    one_row = inverse.size == 1 and not spec.random
    one_row &= spec.focus == 0 or not spec.target_offset.any()
    chain, entries = select_chain(expected_calls, h.shape, inverse.size)
    no_offsets = not (spec.offset.any() or spec.target_offset.any() or spec.random or spec.focus)

    def link(block: Array) -> Array:
        if one_row:
            return _one_temperature(block, spec) * factor
        if no_offsets:
            return chain(block * spec.scale.astype(h.dtype), inverse, groups, False)[0] * factor
        q, staying = _full_chain(block, spec)
        return q * factor / focal_slope_at(staying, spec.focus)

    if one_row or not no_offsets:
        entries = spec.n_classes * (1 if one_row else spec.n_classes)
    return _by_rows(link, h, entries)


def _checked(scores: ArrayLike, n_classes: int) -> Array:
    h = np.asarray(scores)
    if h.dtype not in (np.float32, np.float64):
        h = h.astype(np.float64)
    fits = (h.ndim == 1 and n_classes == 2) or (h.ndim == 2 and h.shape[1] == n_classes)
    if not fits:
        raise ValueError(
            f"scores must have shape (n, {n_classes})"
            f"{' or (n,)' if n_classes == 2 else ''}; got {h.shape}"
        )
    if not np.isfinite(h).all():
        raise ValueError("scores must be finite; got NaN or infinity")
    return h


def _by_rows(link: Callable[[Array], Array], h: Array, entries_per_row: int) -> Array:
    """Return probabilities, computed in blocks by threads; NumPy releases the GIL."""
    count = max(1, min(h.shape[0], -(-h.shape[0] * entries_per_row // BLOCK_ENTRIES)))
    cuts = np.linspace(0, h.shape[0], count + 1).astype(int)
    out = np.empty_like(h)

    def work(begin: int, end: int) -> None:
        out[begin:end] = normalised(link(h[begin:end]))

    in_threads(work, list(pairwise(cuts.tolist())))
    return out


def _one_temperature(scores: Array, spec: LossSpec) -> Array:
    """Return the closed form where row k is ``softmax(z - target_offset_k u_k)``, u unit vectors.

    Off the diagonal the rows are multiples of ``e^z``, and balance gives
    ``q_k ∝ e^{z_k} (sum_j e^{z_j} - e^{z_k} (1 - e^{-target_offset_k}))``: without target
    offsets, the softmax of z.
    """
    dtype = scores.dtype
    slope, scale, offset = (
        part.astype(dtype) for part in (1 / spec.temperature[:1], spec.scale, spec.offset)
    )
    z = adjust_scores(scores, slope, scale, offset)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    if not spec.target_offset.any():
        p = normalised(e)
        return np.asarray(p / focal_slope_at(p, spec.focus))
    total = e.sum(axis=1, keepdims=True)
    q = e * (np.maximum(total - e, 0) + e * np.exp(-spec.target_offset).astype(dtype))
    # Where the offset's exponential underflows and one class has all the mass, e is exact.
    return normalised(np.where(q.sum(axis=1, keepdims=True) > 0, q, e))


def _full_chain(scores: Array, spec: LossSpec) -> tuple[Array, Array]:
    """Return the stationary distribution, and each class's probability of staying.

    There is one state per class, for any mixture of offsets, temperatures and dropped negatives.
    """
    z = adjust_for_every_target(scores, spec)
    log_rows = z - log_sum(z)
    if spec.random:
        dropped = spec.droppable & ~np.eye(spec.n_classes, dtype=bool)
        remaining = np.where(dropped, -np.inf, z)
        with np.errstate(divide="ignore"):
            dropping = np.log(spec.drop_rate) + remaining - log_sum(remaining)
        log_rows = np.logaddexp(np.log1p(-spec.drop_rate) + log_rows, dropping)
    return stationary(log_rows), np.exp(np.diagonal(log_rows, axis1=1, axis2=2))
