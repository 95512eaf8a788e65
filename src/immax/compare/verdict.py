"""The answer: a ranking with intervals, and one sentence that says how sure it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from immax.compare.protocol import Comparison
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import holm, paired_interval, paired_p

__all__ = ["Answer", "Row", "answer"]

LEVEL = 0.05


@dataclass(frozen=True)
class Row:
    """A method: its measures, and its gain over plain logistic regression on the same folds."""

    name: str
    title: str
    measures: dict[str, float]  # means over the folds
    deviation: float  # of the metric, over the folds
    gain: float  # positive if better
    low: float  # 95 % interval of the gain
    high: float
    p: float  # of no gain, corrected for the number of methods
    seconds: float  # of all folds


@dataclass(frozen=True)
class Answer:
    """Rows, the best first; which method to take, and why."""

    metric: str
    rows: tuple[Row, ...]
    recommended: str
    sentence: str

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def answer(found: Comparison) -> Answer:
    """Rank methods by the protocol's metric, and recommend one.

    Folds are paired: the gain of a method is the mean of its differences to plain logistic
    regression. Training sets of different folds overlap, which makes differences look steadier
    than they are; variances are corrected for it after Nadeau and Bengio (2003), and p-values for
    the number of methods after Holm. A method is recommended over plain logistic regression only
    if it is the best and its gain is significant.
    """
    metric = found.protocol.metric
    sign = METRICS[metric].sign
    overlap = 1 / (found.protocol.folds - 1)
    scores = {name: found.scores(name) for name in found.complete}
    values = {name: np.array([one[metric] for one in own]) for name, own in scores.items()}
    gains = {name: sign * (values[name] - values[PLAIN]) for name in values}
    others = [name for name in values if name != PLAIN]
    corrected = dict(
        zip(others, holm([paired_p(gains[name], overlap) for name in others]), strict=True)
    )
    rows = []
    for name, own in scores.items():
        low, high = paired_interval(gains[name], overlap=overlap)
        rows.append(
            Row(
                name,
                CANDIDATES[name].title,
                {key: float(np.mean([one[key] for one in own])) for key in own[0]},
                float(values[name].std(ddof=1)),
                float(gains[name].mean()),
                low if name != PLAIN else 0.0,
                high if name != PLAIN else 0.0,
                float(corrected.get(name, 1.0)),
                sum(piece.seconds for piece in found.pieces[name]),
            )
        )
    rows.sort(key=lambda row: (-sign * row.measures[metric], row.seconds))
    recommended, sentence = _verdict(rows, metric)
    return Answer(metric, tuple(rows), recommended, sentence)


def _verdict(rows: list[Row], metric: str) -> tuple[str, str]:
    best = rows[0]
    plain = next(row for row in rows if row.name == PLAIN)
    measure = metric.replace("_", " ")
    at = f"{measure} {plain.measures[metric]:.4f}"
    if best is plain:
        return PLAIN, f"Take {plain.title}: no other method has a better {measure} ({at})."
    tests = "1 comparison" if len(rows) == 2 else f"{len(rows) - 1} comparisons"
    sure = (
        f"by {best.gain:+.4f} of {measure}, 95 % interval {best.low:+.4f} to {best.high:+.4f}, "
        f"p = {best.p:.2g} after correction for {tests}"
    )
    if best.p < LEVEL:
        return best.name, f"Take {best.title}: better than plain logistic regression {sure}."
    return PLAIN, (
        f"Take plain logistic regression ({at}): no method is clearly better; "
        f"the best, {best.title}, is ahead {sure}."
    )
