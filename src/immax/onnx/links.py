"""The link as ONNX nodes: closed forms, and state reduction for chains of several margins.

The reduction is that of ``immax.markov_chains``, on logarithms, unrolled over the states. It does
without subtraction, so that tiny probabilities keep their precision.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.losses.spec import LossSpec
from immax.onnx.graph import Graph

__all__ = ["add_calibration", "add_immax_link", "add_spec_link", "normalise"]

TINY = np.finfo(np.float64).tiny


def normalise(graph: Graph, odds: str) -> str:
    """Divide each row by its sum.

    Parameters
    ----------
    graph : Graph
    odds : str
        A tensor of shape (n, c), not negative.

    Returns
    -------
    str
        The name of the result.
    """
    return graph.add("Div", odds, graph.add("ReduceSum", odds, graph.integers([1])))


def add_immax_link(graph: Graph, scores: str, rho: Array, loss: str) -> str:
    """Add what ``immax.links.immax_proba`` computes.

    Parameters
    ----------
    graph : Graph
    scores : str
        Of shape (n, 1) for two classes, else (n, c).
    rho : ndarray of shape (c,)
        The margins.
    loss : {"logistic", "exponential"}

    Returns
    -------
    str
        The name of the probabilities, of shape (n, c).
    """
    if rho.size == 2:
        return _add_binary_link(graph, scores, rho, loss)
    log_rows, grouped, groups = _temperature_rows(graph, scores, 1 / rho)
    log_state = _add_stationary(graph, grouped, len(set(groups.tolist())))
    axes = graph.integers([2])
    joint = graph.add("Add", log_rows, graph.add("Unsqueeze", log_state, axes))
    log_q = graph.add("ReduceLogSumExp", joint, graph.integers([1]), keepdims=0)
    if loss == "exponential":
        log_q = graph.add("Add", log_q, _own_rows(graph, log_rows, groups))
    return normalise(graph, graph.add("Mul", _exp_rows(graph, log_q), graph.constant(rho)))


def add_spec_link(graph: Graph, scores: str, spec: LossSpec) -> str:
    """Add what ``immax.links.spec_proba`` computes.

    Parameters
    ----------
    graph : Graph
    scores : str
        Of shape (n, c).
    spec : LossSpec

    Returns
    -------
    str
        The name of the probabilities, of shape (n, c).

    Raises
    ------
    NotImplementedError
        For the equalization loss, which is random.
    """
    if spec.random:
        raise NotImplementedError("the equalization loss cannot be exported to ONNX")
    factor = spec.temperature / spec.weight
    if np.ptp(spec.temperature) == 0 and not spec.target_offset.any():
        z = _adjusted(graph, scores, spec)
        p = graph.add("Softmax", z, axis=1)
        odds = graph.add("Mul", p, graph.constant(factor))
        return normalise(graph, _without_focus(graph, odds, p, spec.focus))
    c = spec.n_classes
    rows = graph.add(
        "Mul",
        graph.add("Unsqueeze", scores, graph.integers([1])),
        graph.constant(spec.scale / spec.temperature[:, None]),
    )
    z = graph.add("Add", rows, graph.constant(spec.offset - np.diag(spec.target_offset)))
    log_rows = _log_normalised(graph, z)
    log_q = _add_stationary(graph, log_rows, c)
    odds = graph.add("Mul", _exp_rows(graph, log_q), graph.constant(factor))
    staying = graph.add("Exp", _own_rows(graph, log_rows, np.arange(c)))
    return normalise(graph, _without_focus(graph, odds, staying, spec.focus))


def add_calibration(graph: Graph, scores: str, slopes: Array, offsets: Array) -> str:
    """Add what ``immax.calibration.ScoreCalibration`` computes.

    Parameters
    ----------
    graph : Graph
    scores : str
        Of shape (n, 1) for two classes, else (n, c).
    slopes, offsets : ndarray of shape (c,), or (1,) for two classes

    Returns
    -------
    str
        The name of the probabilities, of shape (n, c).
    """
    z = graph.add("Mul", scores, graph.constant(slopes))
    z = graph.add("Add", z, graph.constant(offsets))
    if slopes.size == 1:
        zero = graph.add("Sub", z, z)
        z = graph.add("Concat", zero, z, axis=1)
    return graph.add("Softmax", z, axis=1)


def _add_binary_link(graph: Graph, score: str, rho: Array, loss: str) -> str:
    """Add the closed form of two states, by exponents that are clipped before they overflow."""
    most = graph.constant(0.9 * np.log(np.finfo(np.float64).max))
    if loss == "logistic":
        slopes = graph.constant(np.array([[-1.0, 1.0]]) / rho)
        odds = graph.add("Exp", graph.add("Min", graph.add("Mul", score, slopes), most))
        odds = graph.add("Add", odds, graph.constant(1.0))
    else:
        slopes = graph.constant([[0.0, (1 / rho).sum()]])
        odds = graph.add("Exp", graph.add("Min", graph.add("Mul", score, slopes), most))
    return normalise(graph, graph.add("Mul", odds, graph.constant(rho / rho.sum())))


def _temperature_rows(graph: Graph, scores: str, inverse: Array) -> tuple[str, str, Array]:
    """Add the logarithms of the rows of all temperatures, by class and summed by group.

    They have shapes (n, g, c) and (n, g, g). Also return the group of each class.
    """
    values, groups = np.unique(inverse, return_inverse=True)
    columns = graph.add("Unsqueeze", scores, graph.integers([1]))
    z = graph.add("Mul", columns, graph.constant(values[:, None]))
    log_rows = _log_normalised(graph, z)
    if values.size == inverse.size:
        return log_rows, _gather(graph, log_rows, np.argsort(groups), 2), groups
    sums = [
        graph.add(
            "ReduceLogSumExp",
            _gather(graph, log_rows, np.flatnonzero(groups == group), 2),
            graph.integers([2]),
        )
        for group in range(values.size)
    ]
    return log_rows, graph.add("Concat", *sums, axis=2), groups


def _add_stationary(graph: Graph, log_rates: str, states: int) -> str:
    """Add the logarithms of stationary distributions, (n, g), by state reduction."""
    into: list[str] = []
    rates = log_rates
    for k in range(states - 1, 0, -1):
        above = graph.slice(rates, 1, 0, k)
        row = graph.slice(graph.slice(rates, 1, k, k + 1), 2, 0, k)
        leaving = graph.add("ReduceLogSumExp", row, graph.integers([2]))
        entering = graph.add("Sub", graph.slice(above, 2, k, k + 1), leaving)
        into.append(entering)
        through = graph.add("Add", entering, row)
        rates = _log_add(graph, graph.slice(above, 2, 0, k), through)
    first = graph.slice(graph.slice(log_rates, 1, 0, 1), 2, 0, 1)
    zero = graph.add("Mul", first, graph.constant(0.0))
    log_q = graph.add("Squeeze", zero, graph.integers([2]))
    for entering in reversed(into):
        terms = graph.add("Add", log_q, graph.add("Squeeze", entering, graph.integers([2])))
        state = graph.add("ReduceLogSumExp", terms, graph.integers([1]))
        log_q = graph.add("Concat", log_q, state, axis=1)
    return graph.add("Sub", log_q, graph.add("ReduceLogSumExp", log_q, graph.integers([1])))


def _log_add(graph: Graph, a: str, b: str) -> str:
    """Add the logarithm of the sum of two exponentials."""
    apart = graph.add("Neg", graph.add("Abs", graph.add("Sub", a, b)))
    more = graph.add("Log", graph.add("Add", graph.add("Exp", apart), graph.constant(1.0)))
    return graph.add("Add", graph.add("Max", a, b), more)


def _log_normalised(graph: Graph, z: str) -> str:
    return graph.add("Sub", z, graph.add("ReduceLogSumExp", z, graph.integers([2])))


def _gather(graph: Graph, tensor: str, places: Array, axis: int) -> str:
    return graph.add("Gather", tensor, graph.integers(places), axis=axis)


def _own_rows(graph: Graph, log_rows: str, groups: Array) -> str:
    """Add each class's entry in its own row, (n, c)."""
    own = [
        graph.add(
            "Squeeze",
            graph.slice(graph.slice(log_rows, 1, int(group), int(group) + 1), 2, k, k + 1),
            graph.integers([2]),
        )
        for k, group in enumerate(groups)
    ]
    return graph.add("Concat", *own, axis=1)


def _exp_rows(graph: Graph, logs: str) -> str:
    """Add exponentials relative to the largest of each row."""
    return graph.add(
        "Exp", graph.add("Sub", logs, graph.add("ReduceMax", logs, graph.integers([1])))
    )


def _adjusted(graph: Graph, scores: str, spec: LossSpec) -> str:
    scaled = graph.add("Mul", scores, graph.constant(spec.scale / spec.temperature))
    return graph.add("Add", scaled, graph.constant(spec.offset))


def _without_focus(graph: Graph, odds: str, p: str, focus: float) -> str:
    """Divide odds by the slope of the focal factor at probabilities p."""
    if focus == 0:
        return odds
    p = graph.add("Clip", p, graph.constant(TINY), graph.constant(1 - 1e-16))
    rest = graph.add("Sub", graph.constant(1.0), p)
    flat = graph.add("Pow", rest, graph.constant(focus))
    steep = graph.add("Pow", rest, graph.constant(focus - 1))
    nll = graph.add("Neg", graph.add("Log", p))
    bend = graph.add(
        "Mul", graph.add("Mul", steep, graph.add("Mul", p, nll)), graph.constant(focus)
    )
    slope = graph.add("Max", graph.add("Add", flat, bend), graph.constant(TINY))
    return graph.add("Div", odds, slope)
