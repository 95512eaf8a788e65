"""The constants of the margin bounds: what multiplies the complexity, and what delta costs.

``proof="sharp"`` are our constants, whose proofs are in ``docs/theory.md``; ``proof="paper"`` are
those that the paper prints, also where they are not proved.
"""

from __future__ import annotations

import warnings

import numpy as np

from immax.arrays import Array

__all__ = [
    "check_delta",
    "check_proof",
    "complexity_factor",
    "deviation",
    "log_scales",
    "uniform_deviation",
]

PROOFS = ("sharp", "paper")


def check_proof(proof: str | bool) -> str:
    """Return "sharp" or "paper".

    Parameters
    ----------
    proof : {"sharp", "paper"}
        True and False, which earlier versions took for "sharp" and "paper", are deprecated.

    Returns
    -------
    str
    """
    if isinstance(proof, bool):
        warnings.warn(
            f"proof={proof} is deprecated: use proof={'sharp' if proof else 'paper'!r}",
            FutureWarning,
            stacklevel=3,
        )
        return "sharp" if proof else "paper"
    if proof not in PROOFS:
        raise ValueError(f"proof must be 'sharp' or 'paper'; got {proof!r}")
    return proof


def check_delta(delta: float) -> float:
    """Return delta, the probability with which a bound may fail.

    Parameters
    ----------
    delta : float
        Strictly between 0 and 1.

    Returns
    -------
    float
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must be strictly between 0 and 1; got {delta!r}")
    return float(delta)


def complexity_factor(n_scores: int, uniform: bool = False, proof: str = "sharp") -> float:
    """Return what multiplies the complexity.

    A single score has 2. With c scores the sharp factor is 4, since the margin is
    ``sqrt(2)``-Lipschitz in the Euclidean norm; the paper goes through the l1 norm, and has
    ``4 sqrt(2 c)``. Uniform bounds halve the margins, which doubles the factor; the paper prints
    ``4 c sqrt(2 c)``, without a proof.

    Parameters
    ----------
    n_scores : int
        1 for a single score, else the number of classes.
    uniform : bool, default=False
        Whether the margins may be chosen after the sample was seen.
    proof : {"sharp", "paper"}, default="sharp"

    Returns
    -------
    float

    Examples
    --------
    >>> complexity_factor(100), complexity_factor(100, uniform=True)
    (4.0, 8.0)
    >>> round(complexity_factor(100, uniform=True, proof="paper"))
    5657
    """
    if n_scores == 1:
        return 4.0 if uniform else 2.0
    if proof == "sharp":
        return 8.0 if uniform else 4.0
    return float((4 * n_scores if uniform else 4) * np.sqrt(2 * n_scores))


def deviation(m: float, delta: float, expected: bool = False, span: float = 1.0) -> float:
    """Return the confidence term for margins that are fixed.

    Parameters
    ----------
    m : float
        The number of samples.
    delta : float
    expected : bool, default=False
        Whether the complexity is the expected one, ``span sqrt(log(1 / delta) / (2 m))``, rather
        than that of the sample, ``3 span sqrt(log(2 / delta) / (2 m))``.
    span : float, default=1.0
        The largest loss of a sample.

    Returns
    -------
    float
    """
    if expected:
        return span * float(np.sqrt(np.log(1 / delta) / (2 * m)))
    return 3 * span * float(np.sqrt(np.log(2 / delta) / (2 * m)))


def log_scales(rho: Array, radii: Array | float) -> Array:
    """Return ``log log_2(2 r_k / rho_k)``: what a margin adds to the confidence term, zero at r.

    Parameters
    ----------
    rho : ndarray
        Margins.
    radii : ndarray or float
        The largest margins that may be chosen.

    Returns
    -------
    ndarray
    """
    return np.asarray(np.log(np.maximum(np.log2(2 * radii / rho), 1)))


def uniform_deviation(
    m: float,
    radii: Array,
    rho: Array,
    delta: float,
    expected: bool = False,
    span: float = 1.0,
    proof: str = "sharp",
) -> float:
    """Return the confidence term for margins that may be chosen after the sample was seen.

    The union bound goes over the margins ``r_k / 2^j_k``, with the share
    ``delta prod_k 1 / (2 j_k^2)`` of delta for each. All of it belongs under one root::

        3 span sqrt((log(2^(c+1) / delta) / 2 + sum_k log log_2(2 r_k / rho_k)) / m)

    and with the expected complexity without the 3, and with ``2^c``. The paper prints
    ``sum_k sqrt(log log_2(2 r_k / rho_k) / m)`` as a term of its own, which is up to ``sqrt(c)``
    times as large, and leaves out its factor 3 where the complexity is that of the sample.

    Parameters
    ----------
    m : float
        The number of samples.
    radii, rho : ndarray of shape (c,)
    delta, expected, span
        As in ``deviation``.
    proof : {"sharp", "paper"}, default="sharp"

    Returns
    -------
    float
    """
    powers = rho.size + (0 if expected else 1)
    base = (powers * np.log(2) + np.log(1 / delta)) / (2 * m)
    factor = span * (1 if expected else 3)
    added = log_scales(rho, radii) / m
    if proof == "sharp":
        return factor * float(np.sqrt(base + added.sum()))
    return span * float(np.sqrt(added).sum()) + factor * float(np.sqrt(base))
