"""The ranking of a comparison as text."""

from __future__ import annotations

from immax.compare import Answer, Comparison, Row
from immax.evaluation.metrics import METRICS

__all__ = ["format_ranking"]


def format_ranking(comparison: Comparison, answer: Answer) -> str:
    """Return the ranking, and the methods that were not compared, as lines of text.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer

    Returns
    -------
    str
    """
    metrics = [answer.metric, *(name for name in METRICS if name != answer.metric)]
    width = max(len(row.title) for row in answer.rows)
    header = f"{'':{width}} {'gain':>8} {'95 % interval':>19}"
    lines = [header + "".join(f" {METRICS[name].title:>{_width(name)}}" for name in metrics)]
    for row in answer.rows:
        values = "".join(f" {_value(row, name):>{_width(name)}}" for name in metrics)
        lines.append(f"{row.title:{width}} {_gain(row)}{values}")
    for name, reason in comparison.left_out.items():
        lines.append(f"not compared: {name} ({reason})")
    return "\n".join(lines)


def _gain(row: Row) -> str:
    """Return the gain and its interval, which the baseline does not have."""
    if not (row.gain or row.low):
        return f"{'':8} {'':19}"
    return f"{row.gain:+8.4f} {f'{row.low:+.4f} to {row.high:+.4f}':>19}"


def _value(row: Row, name: str) -> str:
    return f"{row.measures[name]:.4f}" if name in row.measures else "–"


def _width(name: str) -> int:
    return max(8, len(name))
