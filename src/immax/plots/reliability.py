"""Reliability diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.evaluation.metrics import expected_calibration_error
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

__all__ = ["ReliabilityDisplay", "plot_reliability"]


@dataclass
class ReliabilityDisplay(Display):
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
        self.ax_ = ax = get_axes(ax, 4.2, 4.0)
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        ax.plot(self.confidence, self.share, color=color, linewidth=1)
        sizes = 3 + 7 * np.sqrt(self.count / self.count.max())
        for x, y, n, size in zip(self.confidence, self.share, self.count, sizes, strict=True):
            point = ax.plot(x, y, "o", markersize=size, color=color)[0]
            set_tooltip(point, f"{self.name}: probability {x:.3f}, right {y:.3f}, {n} rows")
        low = max(0.0, float(min(self.confidence.min(), self.share.min())) - 0.05)
        ax.set(xlim=(low, 1.02), ylim=(low, 1.02), xlabel="probability", ylabel="share right")
        ax.set_title(f"{self.name}\ncalibration error {self.error:.3f}".strip(), fontsize="medium")
        return self


def plot_reliability(
    y: ArrayLike, proba: ArrayLike, *, bins: int = 15, name: str = "", ax: Any = None
) -> Any:
    """Draw how often the most probable class is right, against its probability.

    Parameters
    ----------
    y : array-like of shape (n,)
        Codes of the true classes: columns of ``proba``.
    proba : array-like of shape (n, c)
    bins : int
        Of equal width.
    name : str
        Of the method.
    ax : matplotlib Axes, optional
    """
    return ReliabilityDisplay.from_predictions(y, proba, bins=bins, name=name).plot(ax).ax_
