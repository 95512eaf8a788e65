"""Conditional risks, and what they say about consistency.

At a point x the label has probabilities ``p``, shape (c,), and a hypothesis gives scores: a single
number h (of class 1) where there are two classes, or c of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from immax.arrays import Array
from immax.class_vectors import class_vector
from immax.losses.surrogates import SURROGATES, runner_up
from immax.theory.margin_losses import margin_loss, predictions, zero_one_loss

__all__ = [
    "CounterExample",
    "Excess",
    "best_conditional_risk",
    "calibration",
    "conditional_risk",
    "counter_example",
    "implied_threshold",
]

LOSSES = ("zero-one", "margin", "cost-sensitive", *SURROGATES)


def _distribution(p: ArrayLike) -> Array:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or values.size < 2 or (values < 0).any() or not np.isclose(values.sum(), 1):
        raise ValueError(f"p must be the probabilities of two classes or more; got {p!r}")
    return values


def _losses(loss: str, scores: Array, parameters: Array | None) -> Array:
    """Return the loss of each label, shape (c,), at one point."""
    c = 2 if scores.ndim == 0 else scores.size
    rows = np.repeat(scores[None], c, axis=0)
    labels = np.arange(c)
    if loss == "zero-one":
        return zero_one_loss(rows, labels)
    if parameters is None:
        name = "costs" if loss == "cost-sensitive" else "rho"
        raise ValueError(f"loss {loss!r} needs its {name}, one per class")
    if loss == "cost-sensitive":
        return parameters * zero_one_loss(rows, labels)
    if loss == "margin":
        return margin_loss(rows, labels, parameters)
    psi = SURROGATES[loss]
    if scores.ndim == 0:
        return psi.value(np.array([-1.0, 1.0]) * scores / parameters)
    gaps = (scores[:, None] - scores[None, :]) / parameters[:, None]  # (h_y - h_j) / rho_y
    others = ~np.eye(c, dtype=bool)
    if loss == "hinge":
        return psi.value((scores - runner_up(rows, labels)[1]) / parameters)
    if loss == "logistic":
        top = (-gaps).max(axis=1)
        return top + np.log(np.exp(-gaps - top[:, None]).sum(axis=1))
    return np.array([psi.value(gaps[k][others[k]]).sum() for k in range(c)])


def _check(loss: str, parameters: ArrayLike | None, c: int) -> Array | None:
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}")
    if parameters is None:
        return None
    return class_vector(parameters, "costs" if loss == "cost-sensitive" else "rho", c)


def conditional_risk(
    loss: str, p: ArrayLike, scores: ArrayLike, parameters: ArrayLike | None = None
) -> float:
    """Return the expected loss at a point.

    Parameters
    ----------
    loss : str
        "zero-one", "margin", "cost-sensitive", or a surrogate: "logistic", "hinge",
        "exponential". With c scores the logistic and the exponential are in the sum form, the
        hinge in the max form.
    p : array-like of shape (c,)
    scores : float, or array-like of shape (c,)
    parameters : array-like of shape (c,), optional
        The margins rho; for "cost-sensitive" the costs.

    Returns
    -------
    float

    Examples
    --------
    >>> conditional_risk("zero-one", [0.7, 0.3], 1.5)
    0.7
    """
    probabilities = _distribution(p)
    h = np.asarray(scores, dtype=np.float64)
    if h.shape not in ((), (probabilities.size,)) or (h.ndim == 0 and probabilities.size != 2):
        raise ValueError(
            f"scores must be one per class, or a number for two classes; got {h.shape}"
        )
    checked = _check(loss, parameters, probabilities.size)
    return float(probabilities @ _losses(loss, h, checked))


def best_conditional_risk(
    loss: str, p: ArrayLike, parameters: ArrayLike | None = None, one_score: bool = False
) -> float:
    """Return the least expected loss that scores can have at a point.

    ``1 - max p`` for the zero-one and the margin loss, ``min_j sum_{k != j} c_k p_k`` for the
    cost-sensitive one; surrogates are minimised numerically, over c scores or, with
    ``one_score``, over a single one.

    Parameters
    ----------
    loss, p, parameters
        As in ``conditional_risk``.
    one_score : bool, default=False
        Whether two classes have a single score.

    Returns
    -------
    float
    """
    probabilities = _distribution(p)
    c = probabilities.size
    checked = _check(loss, parameters, c)
    if one_score and c != 2:
        raise ValueError("one_score is for two classes")
    if loss in ("zero-one", "margin"):
        return float(1 - probabilities.max())
    if loss == "cost-sensitive":
        weighed = probabilities * _needed(checked, loss)
        return float((weighed.sum() - weighed).min())
    rho = _needed(checked, loss)
    if loss == "hinge":
        return _best_hinge(probabilities, rho, one_score)
    start = np.zeros(1 if one_score else c)

    def risk(h: Array) -> float:
        with np.errstate(over="ignore"):
            return float(probabilities @ _losses(loss, h[0] if one_score else h, rho))

    optimum = minimize(risk, start, method="BFGS", options={"gtol": 1e-10})
    polished = minimize(
        risk, optimum.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}
    )
    return float(min(optimum.fun, polished.fun))


def _needed(parameters: Array | None, loss: str) -> Array:
    if parameters is None:
        raise ValueError(f"loss {loss!r} needs its parameters, one per class")
    return parameters


def _best_hinge(p: Array, rho: Array, one_score: bool) -> float:
    """By linear programming: ``min sum_k p_k t_k``, ``t_k >= 1 - (h_k - h_j) / rho_k``."""
    from scipy.optimize import linprog

    c = p.size
    rows, limits = [], []
    if one_score:
        for k, sign in ((0, -1.0), (1, 1.0)):
            rows.append([-sign / rho[k], *(-float(i == k) for i in range(2))])
            limits.append(-1.0)
        cost = np.concatenate([[0.0], p])
        free = 1
    else:
        for k in range(c):
            for j in range(c):
                if j != k:
                    row = np.zeros(2 * c)
                    row[k], row[j], row[c + k] = -1 / rho[k], 1 / rho[k], -1
                    rows.append(row.tolist())
                    limits.append(-1.0)
        cost = np.concatenate([np.zeros(c), p])
        free = c
    bounds = [(None, None)] * free + [(0, None)] * c
    return float(linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds).fun)


class Excess(NamedTuple):
    """Conditional excess risks: of the zero-one loss, and of the margin loss above it."""

    zero_one: float
    margin: float


def calibration(p: ArrayLike, scores: ArrayLike, rho: ArrayLike) -> Excess:
    """Return both sides of the H-consistency theorems at a point: ``zero_one <= margin``.

    Theorems H-consistency-binary (a single score) and H-consistency-multi; taking expectations
    gives the theorems.

    Parameters
    ----------
    p : array-like of shape (c,)
        Class probabilities.
    scores : float, or array-like of shape (c,)
        The score of class 1, or of all classes.
    rho : array-like of shape (c,)
        Margins.

    Returns
    -------
    Excess

    Examples
    --------
    >>> calibration([0.8, 0.2], 0.1, [1.0, 0.5])
    Excess(zero_one=0.6..., margin=0.76...)
    """
    return Excess(
        conditional_risk("zero-one", p, scores) - best_conditional_risk("zero-one", p),
        conditional_risk("margin", p, scores, rho) - best_conditional_risk("margin", p, rho),
    )


class CounterExample(NamedTuple):
    """A point where the cost-sensitive loss and the zero-one loss want different classes."""

    p: Array
    zero_one_choice: int
    cost_sensitive_choice: int
    zero_one_excess: float


def counter_example(cost_positive: float, cost_negative: float) -> CounterExample:
    """Return the distribution of Theorem negative, for costs that differ.

    All mass is at one point, where class 1 has probability ``1/2 - eps``; eps is half of the
    largest that the proof allows, ``(c_+ - c_-) / (2 (c_+ + c_-))``, and of the other sign where
    ``c_+ < c_-``.

    Parameters
    ----------
    cost_positive, cost_negative : float
        The costs of errors on class 1 and class 0, which differ.

    Returns
    -------
    CounterExample

    Examples
    --------
    >>> found = counter_example(3.0, 1.0)
    >>> found.zero_one_choice, found.cost_sensitive_choice
    (0, 1)
    """
    costs = class_vector([cost_negative, cost_positive], "costs", 2)
    if costs[0] == costs[1]:
        raise ValueError("with equal costs the cost-sensitive loss is the zero-one loss")
    eta = 0.5 - (costs[1] - costs[0]) / (4 * costs.sum())
    p = np.array([1 - eta, eta])
    choices = [
        int(
            predictions(
                np.array([min((1.0, -1.0), key=lambda h: conditional_risk(*risk, h, *rest))])
            )[0]
        )
        for risk, rest in ((("zero-one", p), ()), (("cost-sensitive", p), (costs,)))
    ]
    excess = conditional_risk("zero-one", p, 2.0 * choices[1] - 1) - p.min()
    return CounterExample(p, choices[0], choices[1], float(excess))


def implied_threshold(loss: str, parameters: ArrayLike | None = None) -> float:
    """Return the probability of class 1 at which a loss's best score changes its sign, two classes.

    ``alpha = rho_1 / (rho_0 + rho_1)`` for IMMAX (logistic, hinge and exponential), one half for
    "cross-entropy", "zero-one" and the "margin" loss, ``c_0 / (c_0 + c_1)`` for
    "cost-sensitive".

    Parameters
    ----------
    loss : str
        The loss.
    parameters : array-like of shape (2,), optional
        The margins rho; for "cost-sensitive" the costs.

    Returns
    -------
    float

    Examples
    --------
    >>> implied_threshold("logistic", [0.75, 0.25])
    0.25
    >>> implied_threshold("cost-sensitive", [1.0, 4.0])
    0.2
    """
    if loss in ("cross-entropy", "zero-one", "margin"):
        return 0.5
    checked = _needed(_check(loss, parameters, 2), loss)
    if loss == "cost-sensitive":
        return float(checked[0] / checked.sum())
    return float(checked[1] / checked.sum())
