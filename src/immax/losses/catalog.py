"""The methods by name: class counts and a few hyper-parameters make a LossSpec.

``METHODS`` is the one registry that tests, searches, tables and commands read. A method is one
function and one row: its title, its formula, and the hyper-parameter grid of the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_vectors import class_vector
from immax.class_weights import power_weights
from immax.losses.methods import METHODS, Method, register_method
from immax.losses.spec import LossSpec
from immax.margins import power_margins, theory_margins

__all__ = [
    "METHODS",
    "Method",
    "bs",
    "cb",
    "ce",
    "equal",
    "focal",
    "immax",
    "la",
    "ldam",
    "make_spec",
    "rw",
    "vs",
    "weighted_immax",
]


_TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_HALVES = tuple(k / 2 for k in range(3, 21))  # 1.5, 2, …, 10


def _require(condition: bool, name: str, what: str, value: float) -> None:
    if not condition:
        raise ValueError(f"{name} must be {what}; got {value!r}")


@register_method("IMMAX", "log sum_j exp((h_j - h_y) / rho_y)")
def immax(counts: ArrayLike, rho: ArrayLike | None = None, total: float | None = None) -> LossSpec:
    """Logistic IMMAX: ``log sum_j exp((h_j - h_y) / rho_y)``, the theory's margins by default.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    rho : array-like of shape (n_classes,), optional
        Margins, which are used as they are; by default the theory's.
    total : float, optional
        The sum of the theory's margins. By default their mean is one; 1 is the paper's scaling.

    Returns
    -------
    LossSpec

    Examples
    --------
    >>> immax([8000, 1000]).temperature
    array([1.33333333, 0.66666667])
    """
    m = class_vector(counts, "counts")
    margins = theory_margins(m, total=total) if rho is None else class_vector(rho, "rho", m.size)
    return LossSpec(margins, name="immax")


@register_method("Cross-entropy", "-log softmax(h)_y")
def ce(counts: ArrayLike) -> LossSpec:
    """Cross-entropy: ``-log softmax(h)_y``.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.

    Returns
    -------
    LossSpec
    """
    return LossSpec(np.ones(class_vector(counts, "counts").size), name="ce")


def _mean_one(weight: Vector, counts: Vector) -> Vector:
    """Scale the weights of the classes so that their mean over the samples is one."""
    return np.asarray(weight * (counts.sum() / (counts @ weight)))


@register_method("Re-weighting", "-(m / (c m_y)) log softmax(h)_y", revision=2)
def rw(counts: ArrayLike) -> LossSpec:
    """Re-weighting: ``-(m / (c m_y)) log softmax(h)_y`` for c classes.

    The weights are inverse to the class counts, and their mean over the samples is one, so that
    ``lam`` and a learning rate mean what they mean for cross-entropy.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.

    Returns
    -------
    LossSpec

    Examples
    --------
    >>> rw([900, 100]).weight
    array([0.55555556, 5.        ])
    """
    m = class_vector(counts, "counts")
    return LossSpec(np.ones(m.size), weight=_mean_one(1 / m, m), name="rw")


@register_method("Balanced softmax", "-log(m_y e^{h_y} / sum_j m_j e^{h_j})")
def bs(counts: ArrayLike) -> LossSpec:
    """Balanced softmax: ``-log(m_y e^{h_y} / sum_j m_j e^{h_j})``.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.

    Returns
    -------
    LossSpec
    """
    m = class_vector(counts, "counts")
    return LossSpec(np.ones(m.size), offset=np.log(m), name="bs")


@register_method(
    "Equalization",
    "-log(e^{h_y} / sum_j w_j e^{h_j}), w_j = 1 - beta [m_j / m < threshold] [j != y]",
    p=_TENTHS,
    threshold=(0.176e-3, 0.5e-3, 0.8e-3, 1.5e-3, 1.76e-3, 2e-3, 3e-3, 5e-3),
)
def equal(counts: ArrayLike, p: float = 0.9, threshold: float = 1.76e-3) -> LossSpec:
    """Equalization: classes with ``m_j / m < threshold`` drop out of the negatives at rate p.

    ``-log(e^{h_y} / sum_j w_j e^{h_j})``, ``w_j = 1 - beta [m_j / m < threshold] [j != y]``
    and ``beta ~ Bernoulli(p)``, one draw per sample. ``threshold`` is the paper's lambda.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    p : float, default=0.9
        The rate, strictly between 0 and 1.
    threshold : float, default=1.76e-3
        The share below which a class is rare, strictly between 0 and 1.

    Returns
    -------
    LossSpec
    """
    m = class_vector(counts, "counts")
    _require(0 < p < 1, "p", "strictly between 0 and 1", p)
    _require(0 < threshold < 1, "threshold", "strictly between 0 and 1", threshold)
    return LossSpec(np.ones(m.size), droppable=m / m.sum() < threshold, drop_rate=p, name="equal")


@register_method(
    "Logit adjustment",
    "-log(m_y^tau e^{h_y} / sum_j m_j^tau e^{h_j})",
    tau=(*_TENTHS, 1.0, *_HALVES),
)
def la(counts: ArrayLike, tau: float = 1.0) -> LossSpec:
    """Logit adjustment: ``-log(m_y^tau e^{h_y} / sum_j m_j^tau e^{h_j})``.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    tau : float, default=1.0
        The strength of the adjustment, positive.

    Returns
    -------
    LossSpec
    """
    m = class_vector(counts, "counts")
    _require(bool(np.isfinite(tau)) and tau > 0, "tau", "a positive number", tau)
    return LossSpec(np.ones(m.size), offset=tau * np.log(m), name="la")


@register_method(
    "Class-balanced",
    "-w_y log softmax(h)_y, w_k ∝ 1 / (1 - gamma^{m_k})",
    revision=2,
    gamma=(*_TENTHS, 0.99, 0.999, 0.9999),
)
def cb(counts: ArrayLike, gamma: float = 0.9999, exponent: str = "count") -> LossSpec:
    """Class-balanced: ``-w_y log softmax(h)_y`` with ``w_k ∝ 1 / (1 - gamma^{m_k})``.

    The weights are inverse to the effective number of samples of Cui et al. (2019), and their mean
    over the samples is one: gamma near 0 is cross-entropy, gamma near 1 re-weighting.

    The paper's appendix prints the exponent ``m_k / m``, which is probably a misprint: the weights
    are then those of re-weighting for every gamma. On long-tailed CIFAR-10 with ratio 100, the
    rarest class has 65 times the weight of the most frequent one at gamma = 0.1 and 100 times at
    gamma = 0.9999, while the paper finds accuracies close to those of cross-entropy, the best of
    them for gamma near 0. With Cui et al.'s exponent, these ratios are 1.00 and 79.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    gamma : float, default=0.9999
        Strictly between 0 and 1; Cui et al. call it beta.
    exponent : {"count", "share"}, default="count"
        "share" is the printed form, ``w_k = (1 - gamma) / (1 - gamma^{m_k / m})``, which is not
        scaled to mean one.

    Returns
    -------
    LossSpec

    Examples
    --------
    >>> cb([900, 100], gamma=0.1).weight
    array([1., 1.])
    >>> cb([900, 100], gamma=0.99).weight.round(3)
    array([0.945, 1.491])
    >>> cb([900, 100], gamma=0.1, exponent="share").weight.round(3)
    array([1.03 , 4.376])
    """
    m = class_vector(counts, "counts")
    _require(0 < gamma < 1, "gamma", "strictly between 0 and 1", gamma)
    if exponent not in ("count", "share"):
        raise ValueError(f"exponent must be 'count' or 'share'; got {exponent!r}")
    powers = m if exponent == "count" else m / m.sum()
    weight = (1 - gamma) / -np.expm1(np.log(gamma) * powers)
    if exponent == "count":
        weight = _mean_one(weight, m)
    return LossSpec(np.ones(m.size), weight=weight, name="cb")


@register_method(
    "Focal", "-(1 - p_y)^gamma log p_y, p = softmax(h)", gamma=(0.0, *_TENTHS, 1.0, *_HALVES)
)
def focal(counts: ArrayLike, gamma: float = 1.0) -> LossSpec:
    """Focal: ``-(1 - p_y)^gamma log p_y`` with ``p = softmax(h)``. Not convex for gamma > 0.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    gamma : float, default=1.0
        The focal exponent, not negative.

    Returns
    -------
    LossSpec
    """
    m = class_vector(counts, "counts")
    return LossSpec(np.ones(m.size), focus=gamma, name="focal")


@register_method(
    "LDAM",
    "-log softmax(h - C / m_y^{1/4} e_y)_y",
    C=(1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 1e2, 5e2, 1e3, 5e3, 1e4),
)
def ldam(counts: ArrayLike, C: float = 0.5) -> LossSpec:
    """LDAM: cross-entropy with the target's score lowered by ``C / m_y^{1/4}``.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    C : float, default=0.5
        The scale of the offsets, positive.

    Returns
    -------
    LossSpec
    """
    m = class_vector(counts, "counts")
    _require(bool(np.isfinite(C)) and C > 0, "C", "a positive number", C)
    return LossSpec(np.ones(m.size), target_offset=C / m**0.25, name="ldam")


@register_method(
    "Vector scaling",
    "-log softmax((m_j / max m)^gamma h_j + tau log(m_j / m))_y",
    in_paper=False,
    gamma=(0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
    tau=(0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5),
)
def vs(counts: ArrayLike, gamma: float = 0.15, tau: float = 1.0) -> LossSpec:
    """Vector scaling: scores times ``(m_j / max m)^gamma`` plus ``tau log(m_j / m)``.

    The binary and multi-class VS-loss of Kini et al. (2021) without class weights; it is
    not in the paper.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    gamma : float, default=0.15
        The power of the scales, not negative.
    tau : float, default=1.0
        The strength of the offsets, not negative.

    Returns
    -------
    LossSpec
    """
    m = class_vector(counts, "counts")
    _require(bool(np.isfinite(gamma)) and gamma >= 0, "gamma", "a number of at least 0", gamma)
    _require(bool(np.isfinite(tau)) and tau >= 0, "tau", "a number of at least 0", tau)
    return LossSpec(
        np.ones(m.size),
        scale=(m / m.max()) ** gamma,
        offset=tau * np.log(m / m.sum()),
        name="vs",
    )


@register_method(
    "Weighted IMMAX",
    "-w_y log softmax(h / rho_y)_y, rho_k ∝ m_k^margin_power, w_k ∝ m_k^-weight_power",
    in_paper=False,
    margin_power=(-1 / 3, 0.0, 1 / 3),
    weight_power=(0.0, 0.5, 1.0),
)
def weighted_immax(
    counts: ArrayLike, margin_power: float = -1 / 3, weight_power: float = 1.0
) -> LossSpec:
    """Logistic IMMAX with class weights: ``w_y log sum_j exp((h_j - h_y) / rho_y)``.

    Margins are ``rho_k ∝ m_k^t``, and weights ``w_k ∝ m_k^-u``, whose mean over the samples is
    one. Cross-entropy (t = u = 0), re-weighting (t = 0, u = 1) and
    logistic IMMAX (t = 1/3, u = 0) are members; the default has the weights of the balanced error
    and the margins that the theory prescribes for it, ``theory_margins(counts, costs=1/counts)``.
    Its link is exact: with row k of a chain ``softmax(h / rho_k)`` and q its stationary
    distribution, ``P_k ∝ rho_k q_k / w_k``. It is not in the paper.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    margin_power : float, default=-1/3
        The power t of the margins.
    weight_power : float, default=1.0
        The power u of the weights.

    Returns
    -------
    LossSpec

    Examples
    --------
    >>> spec = weighted_immax([8000, 1000])
    >>> spec.temperature, spec.weight
    (array([0.66666667, 1.33333333]), array([0.5625, 4.5   ]))
    """
    m = class_vector(counts, "counts")
    weight = _mean_one(power_weights(m, weight_power), m)
    return LossSpec(power_margins(m, margin_power), weight=weight, name="weighted_immax")


def make_spec(method: str, counts: ArrayLike, **params: Any) -> LossSpec:
    """Return the LossSpec of a method by name.

    Parameters
    ----------
    method : str
        A key of ``METHODS``.
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    **params : float or array-like
        The method's hyper-parameters.

    Returns
    -------
    LossSpec

    Raises
    ------
    ValueError
        If there is no such method, or it has no such hyper-parameter.

    Examples
    --------
    >>> make_spec("ldam", [8000, 1000], C=0.5).name
    'ldam'
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    try:
        return METHODS[method].make(counts, **params)
    except TypeError as error:
        raise ValueError(f"method {method!r} was given {params!r}: {error}") from error
