"""Scores to class probabilities and decisions.

The minimiser of a loss's conditional risk determines the class probabilities, though not by
a plain softmax. For logistic IMMAX let row k of the matrix A be ``softmax(h / rho_k)`` and q
its stationary distribution, ``q A = q``. Then ``P(y = k | x) ∝ rho_k q_k``. Classes that share
a row are one state of the chain, so g distinct margins cost O(c g + g^3) per sample.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Array
from immax.compiled import worth_compiling
from immax.losses.focal import focal_slope_at
from immax.losses.softmax import adjust_for_every_target, adjust_scores
from immax.losses.spec import LossSpec
from immax.margins import class_vector
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

BLOCK_ENTRIES = 2**20  # of the largest temporary array
MOST_STATES = 32  # of a chain that is solved directly


def immax_proba(
    scores: ArrayLike, rho: ArrayLike, loss: str = "logistic", *, calls: int = 1
) -> Array:
    """Exact class probabilities from the scores of an IMMAX model.

    Parameters
    ----------
    scores : array-like of shape (n, c), or (n,) for two classes
        One-dimensional scores are those of class 1 (positive where the model says class 1),
        as ``decision_function`` gives them.
    rho : array-like of shape (c,)
        The margins that the model was trained with. With one-dimensional scores only their
        ratio matters, as in the paper's form for two classes.
    loss : {"logistic", "exponential"}
        In the sum form. The hinge and the max forms do not determine probabilities.
    calls : int
        About how many like this one are to be made: many small ones are worth a compiled kernel.

    Returns
    -------
    ndarray of shape (n, c)
        Rows sum to one.

    Examples
    --------
    A score of zero is the posterior alpha, not one half:

    >>> immax_proba([0.0], [0.25, 0.75])
    array([[0.25, 0.75]])
    """
    if loss not in ("logistic", "exponential"):
        raise ValueError(
            f"loss must be 'logistic' or 'exponential'; got {loss!r}, whose scores do not "
            "determine probabilities (calibrate them instead, for example with "
            "sklearn.calibration.CalibratedClassifierCV)"
        )
    margins = class_vector(rho, "rho")
    h = _checked(scores, margins.size)
    if h.ndim == 1:
        return _binary_proba(h, margins / margins.sum(), loss)
    if margins.size == 2:
        return _binary_proba(h[:, 1] - h[:, 0], margins, loss)
    inverse, groups = np.unique(1 / margins, return_inverse=True)
    factor = margins.astype(h.dtype)
    chain = _chain_for(calls * h.size, inverse.size)

    def link(block: Array) -> Array:
        q, staying = chain(block, inverse, groups, own=loss == "exponential")
        return (q if staying is None else q * staying) * factor

    return _by_rows(link, h, margins.size * inverse.size)


def _binary_proba(score: Array, rho: Array, loss: str) -> Array:
    """Closed form of the two-state chain: ``P_1 ∝ rho_1 (1 + e^{h / rho_1})``, P_0 likewise.

    Exponentials stop short of overflow, where the other class's probability is nothing.
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


def spec_proba(scores: ArrayLike, spec: LossSpec, *, calls: int = 1) -> Array:
    """Exact class probabilities from scores trained with a catalogue method.

    They invert the method's conditional risk, so that class weights, offsets and focus do
    not bias them. With row k of A the expected softmax of a sample of class k, and q its
    stationary distribution, ``P_k ∝ q_k temperature_k / (weight_k F'_k)``, where F' is the
    slope of the focal factor.

    Parameters
    ----------
    scores : array-like of shape (n, c)
    spec : LossSpec
    calls : int
        As in ``immax_proba``.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> spec_proba([[0.0, 0.0]], catalog.rw([900, 100]))
    array([[0.9, 0.1]])
    """
    h = _checked(scores, spec.n_classes)
    if h.ndim == 1:
        raise ValueError("scores must have shape (n, c); got one dimension")
    factor = (spec.temperature / spec.weight).astype(h.dtype)
    inverse, groups = np.unique(1 / spec.temperature, return_inverse=True)
    one_row = inverse.size == 1 and not spec.random
    one_row &= spec.focus == 0 or not spec.target_offset.any()
    chain = _chain_for(calls * h.size, inverse.size)
    no_offsets = not (spec.offset.any() or spec.target_offset.any() or spec.random or spec.focus)

    def link(block: Array) -> Array:
        if one_row:
            return _one_temperature(block, spec) * factor
        if no_offsets:
            return chain(block * spec.scale.astype(h.dtype), inverse, groups)[0] * factor
        q, staying = _full_chain(block, spec)
        return q * factor / focal_slope_at(staying, spec.focus)

    states = 1 if one_row else inverse.size if no_offsets else spec.n_classes
    return _by_rows(link, h, spec.n_classes * states)


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
    """Probabilities block by block, a thread for each core; NumPy lets go of the lock."""
    size = max(1, BLOCK_ENTRIES // entries_per_row)
    blocks = [slice(begin, begin + size) for begin in range(0, h.shape[0], size)]
    out = np.empty_like(h)

    def work(rows: slice) -> None:
        out[rows] = _normalised(link(h[rows]))

    if blocks:
        in_threads(work, [(rows,) for rows in blocks])
    return out


def _normalised(p: Array) -> Array:
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _chain_for(entries: int, states: int) -> Callable[..., tuple[Array, Array | None]]:
    """The chain of temperatures, compiled if that pays."""
    compile_it = states <= MOST_STATES and worth_compiling(entries * states)
    return _compiled_chain if compile_it else _temperature_chain


def _temperature_chain(
    h: Array, inverse: Array, groups: Array, own: bool = False
) -> tuple[Array, Array | None]:
    """Stationary distribution over the classes when row k is ``softmax(h * inverse_g(k))``.

    With ``own``, also each class's probability of staying, ``A_kk``.
    """
    n, c = h.shape
    g = inverse.size
    beta = inverse.astype(h.dtype)
    order = np.argsort(groups, kind="stable")
    member = groups[order]
    starts = np.searchsorted(member, np.arange(g))
    h = h[:, order]
    best = np.maximum.reduceat(h, starts, axis=1)
    # Exponentials relative to the best class of their own group, so that no group vanishes.
    rows = np.empty((n, g, c), h.dtype)
    np.multiply((h - best[:, member])[:, None, :], beta[:, None], out=rows)
    np.exp(rows, out=rows)
    sums = np.add.reduceat(rows, starts, axis=2)
    log_mass = np.log(sums) + best[:, None, :] * beta[:, None]
    log_mass -= _log_sum(log_mass)
    state = stationary(log_mass)
    # q_j = sum_s Q_s A_sj, and A_sj = rows_sj * mass_s,g(j) / sums_s,g(j).
    share = np.exp(log_mass) / sums
    weight = share * state[:, :, None]
    q = np.empty((n, c), h.dtype)
    for j, (begin, end) in enumerate(zip(starts, [*starts[1:], c], strict=True)):
        q[:, begin:end] = (weight[:, None, :, j] @ rows[:, :, begin:end])[:, 0]
    back = np.argsort(order)
    if not own:
        return q[:, back], None
    staying = rows[:, member, np.arange(c)] * share[:, member, member]
    return q[:, back], staying[:, back]


def _compiled_chain(
    h: Array, inverse: Array, groups: Array, own: bool = False
) -> tuple[Array, Array | None]:
    from immax.compiled.link import temperature_chain

    q, staying, well_scaled = temperature_chain(h, inverse, groups, own)
    if not well_scaled.all():
        others = np.flatnonzero(~well_scaled)
        q[others], rest = _temperature_chain(h[others], inverse, groups, own)
        if staying is not None:
            staying[others] = rest
    return q, staying


def _log_sum(z: Array) -> Array:
    top = z.max(axis=-1, keepdims=True)
    return np.asarray(top + np.log(np.exp(z - top).sum(axis=-1, keepdims=True)))


def _one_temperature(scores: Array, spec: LossSpec) -> Array:
    """Closed form where row k is ``softmax(z - target_offset_k u_k)``, u unit vectors.

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
        p = _normalised(e)
        return np.asarray(p / focal_slope_at(p, spec.focus))
    total = e.sum(axis=1, keepdims=True)
    q = e * (np.maximum(total - e, 0) + e * np.exp(-spec.target_offset).astype(dtype))
    # Where the offset's exponential underflows and one class has everything, e says so.
    return _normalised(np.where(q.sum(axis=1, keepdims=True) > 0, q, e))


def _full_chain(scores: Array, spec: LossSpec) -> tuple[Array, Array]:
    """One state per class: any mixture of offsets, temperatures and dropped negatives.

    Also each class's probability of staying.
    """
    z = adjust_for_every_target(scores, spec)
    log_rows = z - _log_sum(z)
    if spec.random:
        dropped = spec.droppable & ~np.eye(spec.n_classes, dtype=bool)
        kept = np.where(dropped, -np.inf, z)
        with np.errstate(divide="ignore"):
            dropping = np.log(spec.drop_rate) + kept - _log_sum(kept)
        log_rows = np.logaddexp(np.log1p(-spec.drop_rate) + log_rows, dropping)
    return stationary(log_rows), np.exp(np.diagonal(log_rows, axis1=1, axis2=2))


def stationary(log_rates: Array) -> Array:
    """Stationary distributions of Markov chains given by the logarithms of their rates.

    State reduction (Grassmann, Taksar and Heyman): no subtraction, so that even tiny
    probabilities keep their relative precision. Diagonal entries play no part.

    Parameters
    ----------
    log_rates : ndarray of shape (n, g, g)
        Entry (i, k, j) is the log of chain i's rate from state k to state j.

    Returns
    -------
    ndarray of shape (n, g)
    """
    n, g, _ = log_rates.shape
    off = ~np.eye(g, dtype=bool)
    # Exponentials of what lies above the floor are far from underflow in every product.
    floor = -0.4 * np.log(np.finfo(log_rates.dtype).max)
    tame = (log_rates[:, off] > floor).all(axis=1) if g > 1 else np.ones(n, bool)
    out = np.empty((n, g), log_rates.dtype)
    if tame.any():
        rates = np.exp(log_rates[tame])
        out[tame] = _reduce(rates) if g <= MOST_STATES else _iterate(rates)
    if not tame.all():
        out[~tame] = _log_reduce(log_rates[~tame])
    return out


def _iterate(rates: Array) -> Array:
    """The same for many states: power iteration, and reduction where that is slow.

    Rows of a chain of softmaxes at different temperatures are much alike, so that the
    iteration forgets its start in a few steps.
    """
    rates = rates / rates.sum(axis=2, keepdims=True)
    q = rates.mean(axis=1)
    moved = np.full(len(q), np.inf)
    for _ in range(200):
        following = (q[:, None, :] @ rates)[:, 0]
        moved = np.abs(following - q).sum(axis=1)
        q = following
        if (moved <= 4 * np.finfo(q.dtype).eps).all():
            break
    slow = moved > 64 * np.finfo(q.dtype).eps
    if slow.any():
        q[slow] = _reduce(rates[slow])
    return _normalised(q)


def _reduce(rates: Array) -> Array:
    g = rates.shape[1]
    for k in range(g - 1, 0, -1):
        rates[:, :k, k] /= rates[:, k, :k].sum(axis=1, keepdims=True)
        rates[:, :k, :k] += rates[:, :k, k, None] * rates[:, None, k, :k]
    q = np.ones(rates.shape[:2], rates.dtype)
    for k in range(1, g):
        q[:, k] = np.einsum("ij,ij->i", q[:, :k], rates[:, :k, k])
        q[:, : k + 1] /= q[:, : k + 1].max(axis=1, keepdims=True)
    return _normalised(q)


def _log_reduce(rates: Array) -> Array:
    g = rates.shape[1]
    for k in range(g - 1, 0, -1):
        rates[:, :k, k] -= _log_sum(rates[:, k, :k])
        through = rates[:, :k, k, None] + rates[:, None, k, :k]
        rates[:, :k, :k] = np.logaddexp(rates[:, :k, :k], through)
    q = np.zeros(rates.shape[:2], rates.dtype)
    for k in range(1, g):
        q[:, k] = _log_sum(q[:, :k] + rates[:, :k, k])[:, 0]
    return np.asarray(np.exp(q - _log_sum(q)))


def highest_argmax(values: Array) -> NDArray[np.intp]:
    """The index of each row's largest entry, the highest one on a tie, as in the paper."""
    return np.asarray(values.shape[1] - 1 - np.argmax(values[:, ::-1], axis=1))


def by_score(scores: Array) -> NDArray[np.intp]:
    """Class indices by the highest score, (n, c), or by the sign of class 1's, (n,)."""
    return (scores >= 0).astype(np.intp) if scores.ndim == 1 else highest_argmax(scores)


def check_costs(costs: ArrayLike, n_classes: int) -> Array:
    """Return costs as a (c, c) matrix: entry (k, j) is paid for saying j when k is true."""
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape == (n_classes,):
        matrix = np.where(np.eye(n_classes, dtype=bool), 0.0, matrix[:, None])
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have shape ({n_classes},) or ({n_classes}, {n_classes}); "
            f"got {np.shape(costs)}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite; got NaN or infinity")
    return np.asarray(matrix)


def decide(proba: ArrayLike, costs: ArrayLike | None = None) -> NDArray[np.intp]:
    """The "bayes" rule: the most probable class, or the one of least expected cost.

    Parameters
    ----------
    proba : array-like of shape (n, c)
    costs : array-like of shape (c,) or (c, c), optional
        What an error on each class costs, or what saying j costs when k is true, at (k, j).

    Returns
    -------
    ndarray of int, shape (n,)
        The highest index on a tie.

    Examples
    --------
    >>> decide([[0.8, 0.2]])
    array([0])
    >>> decide([[0.8, 0.2]], costs=[1.0, 10.0])
    array([1])
    """
    p = np.asarray(proba)
    if costs is None:
        return highest_argmax(p)
    return highest_argmax(-(p @ check_costs(costs, p.shape[1])))
