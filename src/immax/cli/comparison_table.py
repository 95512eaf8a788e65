"""The ranking of a comparison as text."""

from __future__ import annotations

from immax.compare import Answer, Comparison, Row
from immax.evaluation.metrics import METRICS

__all__ = ["format_ranking"]

OTHERS = ("accuracy", "balanced_accuracy", "macro_f1", "log_loss", "average_precision")


def format_ranking(comparison: Comparison, answer: Answer) -> str:
    """Return the ranking, and the methods that were not compared, as lines of text.

    Beside the metrics it shows, for the rarest class, the mean predicted probability, which for
    calibrated probabilities is the share of the class; and the time of each method.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer

    Returns
    -------
    str
    """
    metrics = {answer.metric: answer.title}
    metrics |= {name: METRICS[name].title for name in OTHERS if name != answer.metric}
    width = max(len(row.title) for row in answer.rows)
    header = f"{'':{width}} {'gain':>8} {'95 % interval':>19}"
    header += "".join(f" {title:>{_width(title)}}" for title in metrics.values())
    rarest = int(comparison.counts.argmin())
    name, share = comparison.class_names[rarest], comparison.counts[rarest] / len(comparison.codes)
    predicted = f"P({name}), true {share:.3f}"
    lines = [f"{header} {predicted:>{len(predicted)}} {'seconds':>8}"]
    for row in answer.rows:
        values = "".join(f" {_value(row, key):>{_width(title)}}" for key, title in metrics.items())
        proba = comparison.pooled(row.name).proba
        mean = "–" if proba is None else f"{proba[:, rarest].mean():.3f}"
        lines.append(
            f"{row.title:{width}} {_gain(row)}{values} {mean:>{len(predicted)}} {row.seconds:8.1f}"
        )
    for method, reason in comparison.left_out.items():
        lines.append(f"not compared: {method} ({reason})")
    return "\n".join(lines)


def _gain(row: Row) -> str:
    """Return the gain and its interval, which the baseline does not have."""
    if not (row.gain or row.low):
        return f"{'':8} {'':19}"
    return f"{row.gain:+8.4f} {f'{row.low:+.4f} to {row.high:+.4f}':>19}"


def _value(row: Row, name: str) -> str:
    return f"{row.measures[name]:.4f}" if name in row.measures else "–"


def _width(title: str) -> int:
    return max(8, len(title))
