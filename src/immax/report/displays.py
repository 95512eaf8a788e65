"""Pictures as objects: computed once, drawn as often as one likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve

from immax.bench.metrics import expected_calibration_error
from immax.compare.answer import Answer, Row
from immax.margins import theory_margins
from immax.pictures import COLOURS, axes, tip

__all__ = [
    "ComparisonDisplay",
    "MarginsDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
]

Array = NDArray[Any]


@dataclass
class _Display:
    ax_: Any = field(default=None, init=False, repr=False)

    @property
    def figure_(self) -> Any:
        return self.ax_.figure


@dataclass
class ReliabilityDisplay(_Display):
    """How often the most probable class is right, against its probability.

    Attributes
    ----------
    confidence, share, count : ndarray
        Of each bin that has samples: the mean of the highest probability, the share of samples
        for which it is right, and their number.
    error : float
        The expected calibration error.
    """

    confidence: Array
    share: Array
    count: Array
    error: float
    name: str = ""

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, proba: ArrayLike, *, bins: int = 15, name: str = ""
    ) -> Self:
        """From codes of the true classes and probabilities of shape (n, c)."""
        p, truth = np.asarray(proba, dtype=np.float64), np.asarray(y)
        confidence, right = p.max(axis=1), p.argmax(axis=1) == truth
        which = np.minimum((confidence * bins).astype(int), bins - 1)
        count = np.bincount(which, minlength=bins)
        used = count > 0
        means = [np.bincount(which, weights=w, minlength=bins) for w in (confidence, right)]
        mean, share = (part[used] / count[used] for part in means)
        return cls(mean, share, count[used], expected_calibration_error(p, truth, bins), name)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """From a classifier with probabilities, and data that it was not fitted to."""
        codes = np.searchsorted(model.classes_, np.asarray(y))
        options.setdefault("name", type(model).__name__)
        return cls.from_predictions(codes, model.predict_proba(X), **options)

    def plot(self, ax: Any = None, *, color: str = COLOURS[0]) -> Self:
        """Points on the diagonal are right; below it, the classifier is too sure."""
        self.ax_ = ax = axes(ax, 4.2, 4.0)
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        ax.plot(self.confidence, self.share, color=color, linewidth=1)
        sizes = 3 + 7 * np.sqrt(self.count / self.count.max())
        for x, y, n, size in zip(self.confidence, self.share, self.count, sizes, strict=True):
            point = ax.plot(x, y, "o", markersize=size, color=color)[0]
            tip(point, f"{self.name}: probability {x:.3f}, right {y:.3f}, {n} rows")
        low = max(0.0, float(min(self.confidence.min(), self.share.min())) - 0.05)
        ax.set(xlim=(low, 1.02), ylim=(low, 1.02), xlabel="probability", ylabel="share right")
        ax.set_title(f"{self.name}\ncalibration error {self.error:.3f}".strip(), fontsize="medium")
        return self


@dataclass
class MarginsDisplay(_Display):
    """The margin of each class, beside the theory's and equal ones; all sum to one."""

    margins: Array
    theory: Array | None
    class_names: Sequence[str]

    @classmethod
    def from_estimator(cls, model: Any, counts: ArrayLike | None = None) -> Self:
        """From a fitted model with ``margins_``; class counts give the theory's."""
        return cls.from_margins(model.margins_, counts, model.classes_)

    @classmethod
    def from_margins(
        cls, margins: ArrayLike, counts: ArrayLike | None = None, class_names: Any = None
    ) -> Self:
        """From margins of any scale."""
        rho = np.asarray(margins, dtype=np.float64)
        names = range(rho.size) if class_names is None else class_names
        theory = None if counts is None else theory_margins(counts)
        return cls(rho / rho.sum(), theory, [str(name) for name in names])

    def plot(self, ax: Any = None) -> Self:
        """Bars for the model's margins, lines across them for the others."""
        n = self.margins.size
        self.ax_ = ax = axes(ax, 6, 1.4 + 0.32 * n)
        places = np.arange(n)[::-1]
        bars = ax.barh(places, self.margins, height=0.6, color=COLOURS[0], label="this model")
        ax.axvline(1 / n, color="0.5", linestyle=":", label="equal margins")
        for k, bar in enumerate(bars):
            text = f"{self.class_names[k]}: margin {self.margins[k]:.4f}, equal {1 / n:.4f}"
            if self.theory is not None:
                text += f", theory {self.theory[k]:.4f}"
                ends = [places[k] - 0.4, places[k] + 0.4]
                label = "theory" if k == 0 else None
                ax.plot([self.theory[k]] * 2, ends, color=COLOURS[1], linewidth=2.5, label=label)
            tip(bar, text)
        ax.set_yticks(places, [str(name)[:24] for name in self.class_names])
        ax.set_xlabel("share of the sum of all margins")
        ax.legend(fontsize="small")
        return self


@dataclass
class ComparisonDisplay(_Display):
    """What each method gains over plain logistic regression, with 95 % intervals."""

    metric: str
    rows: Sequence[Row]
    recommended: str

    @classmethod
    def from_answer(cls, answer: Answer) -> Self:
        """From what ``immax.compare.answer`` says."""
        return cls(answer.metric, answer.rows, answer.recommended)

    def plot(self, ax: Any = None) -> Self:
        """The best method on top; to the right of the line is better."""
        self.ax_ = ax = axes(ax, 7, 1.2 + 0.34 * len(self.rows))
        places = np.arange(len(self.rows))[::-1]
        ax.axvline(0, color="0.5", linewidth=1)
        for place, row in zip(places, self.rows, strict=True):
            color = COLOURS[1] if row.name == self.recommended else COLOURS[0]
            ax.plot([row.low, row.high], [place, place], color=color, linewidth=2)
            point = ax.plot(row.gain, place, "o", color=color, markersize=8)[0]
            tip(
                point,
                f"{row.title}: {row.measures[self.metric]:.4f}, gain {row.gain:+.4f} "
                f"({row.low:+.4f} to {row.high:+.4f})",
            )
        ax.set_yticks(places, [row.title for row in self.rows])
        ax.set_xlabel(f"gain in {self.metric.replace('_', ' ')} over plain logistic regression")
        ax.grid(axis="x", alpha=0.3)
        return self


@dataclass
class PrecisionRecallDisplay(_Display):
    """Precision against recall of one class, for one method or more."""

    curves: dict[str, tuple[Array, Array, float]]  # precision, recall, average precision
    share: float  # of the class
    class_name: str = ""

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, scores: Mapping[str, ArrayLike], *, class_name: str = ""
    ) -> Self:
        """From whether each sample is of the class, and each method's probabilities of it."""
        truth = np.asarray(y, dtype=bool)
        curves = {}
        for name, own in scores.items():
            precision, recall, _ = precision_recall_curve(truth, own)
            curves[name] = (precision, recall, float(average_precision_score(truth, own)))
        return cls(curves, float(truth.mean()), class_name)

    def plot(self, ax: Any = None, *, most: int = 200) -> Self:
        """At most so many points of each curve."""
        self.ax_ = ax = axes(ax, 6.5, 4.2)
        order = sorted(self.curves, key=lambda name: -self.curves[name][2])
        for number, name in enumerate(order):
            precision, recall, average = self.curves[name]
            kept = np.unique(np.linspace(0, len(recall) - 1, most).round().astype(int))
            line = ax.plot(
                recall[kept],
                precision[kept],
                color=COLOURS[number % len(COLOURS)],
                linestyle=("-", "--", ":")[number // len(COLOURS) % 3],
                linewidth=1.6,
                label=f"{name} ({average:.3f})",
            )[0]
            tip(line, f"{name}: average precision {average:.4f}")
        ax.axhline(self.share, color="0.5", linestyle=":", linewidth=1)
        ax.set(xlim=(0, 1.01), ylim=(0, 1.02))
        ax.set(xlabel=f"recall of {self.class_name or 'the class'}", ylabel="precision")
        ax.legend(fontsize="small", title="average precision", loc="lower left")
        return self
