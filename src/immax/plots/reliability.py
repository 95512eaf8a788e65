"""Reliability diagrams: how often the most probable class is right, against its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features, Vector
from immax.evaluation.calibration import calibrate_classes
from immax.evaluation.metrics import expected_calibration_error
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ReliabilityDisplay", "plot_reliability"]


class ProbabilisticClassifier(Protocol):
    """A fitted classifier with probabilities."""

    classes_: Array

    def predict_proba(self, X: Features) -> Array:
        """Return class probabilities of shape (n, c)."""


@dataclass(eq=False)
class ReliabilityDisplay(Display):
    """Accuracy of the most probable class against its predicted probability.

    Parameters
    ----------
    confidence : ndarray of shape (n_bins,)
        Mean of the highest probability in each bin that has samples.
    share : ndarray of shape (n_bins,)
        Share of the samples in each bin for which the most probable class is right.
    count : ndarray of shape (n_bins,)
        Number of samples in each bin.
    error : float
        Expected calibration error.
    name : str, default=""
        The name of the method.
    class_name : str, default=""
        The class whose probabilities are shown; empty for the most probable class of each sample.
    """

    confidence: Vector
    share: Vector
    count: Array
    error: float
    name: str = ""
    class_name: str = ""

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, proba: ArrayLike, *, bins: int = 15, name: str = ""
    ) -> Self:
        """Create the display from predicted probabilities.

        Parameters
        ----------
        y : array-like of int, shape (n,)
            Codes of the true classes: columns of ``proba``.
        proba : array-like of shape (n, c)
            Predicted class probabilities.
        bins : int, default=15
            Number of bins, all of equal width.
        name : str, default=""
            The name of the method.

        Returns
        -------
        ReliabilityDisplay
        """
        p, truth = np.asarray(proba, dtype=np.float64), np.asarray(y)
        confidence, right = p.max(axis=1), p.argmax(axis=1) == truth
        which = np.minimum((confidence * bins).astype(int), bins - 1)
        count = np.bincount(which, minlength=bins)
        used = count > 0
        sums = [np.bincount(which, weights=w, minlength=bins) for w in (confidence, right)]
        mean, share = (total[used] / count[used] for total in sums)
        return cls(mean, share, count[used], expected_calibration_error(p, truth, bins), name)

    @classmethod
    def from_class(
        cls, y: ArrayLike, proba: ArrayLike, code: int, *, name: str = "", class_name: str = ""
    ) -> Self:
        """Create the display of the probabilities of one class, in bins of equally many samples.

        Parameters
        ----------
        y : array-like of int, shape (n,)
            Codes of the true classes: columns of ``proba``.
        proba : array-like of shape (n, c)
            Predicted class probabilities.
        code : int
            The column of the class.
        name : str, default=""
            The name of the method.
        class_name : str, default=""
            The name of the class; by default its code.

        Returns
        -------
        ReliabilityDisplay
        """
        calibration = next(one for one in calibrate_classes(proba, y) if one.code == code)
        return cls(
            calibration.means,
            calibration.shares,
            calibration.counts,
            calibration.error,
            name,
            class_name or str(code),
        )

    @classmethod
    def from_estimator(
        cls,
        model: ProbabilisticClassifier,
        X: Features,
        y: ArrayLike,
        *,
        bins: int = 15,
        name: str | None = None,
    ) -> Self:
        """Create the display from a fitted classifier and held-out data.

        Parameters
        ----------
        model : fitted classifier
            With ``predict_proba`` and ``classes_``.
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Samples that the classifier was not fitted to.
        y : array-like of shape (n,)
            Their labels.
        bins : int, default=15
            Number of bins, all of equal width.
        name : str, optional
            The name of the method; by default that of the classifier's class.

        Returns
        -------
        ReliabilityDisplay
        """
        codes = np.searchsorted(model.classes_, np.asarray(y))
        title = type(model).__name__ if name is None else name
        return cls.from_predictions(codes, model.predict_proba(X), bins=bins, name=title)

    def plot(self, ax: Axes | None = None, *, color: str = COLOURS[0]) -> Self:
        """Draw a point for each bin; below the diagonal, the classifier is overconfident.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        color : str, default="#4477aa"
            Colour of the points; larger points stand for more samples.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 4.2, 4.0)
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        ax.plot(self.confidence, self.share, color=color, linewidth=1)
        sizes = 3 + 7 * np.sqrt(self.count / self.count.max())
        for x, y, n, size in zip(self.confidence, self.share, self.count, sizes, strict=True):
            point = ax.plot(x, y, "o", markersize=size, color=color)[0]
            seen = f"share of {self.class_name}" if self.class_name else "share right"
            set_tooltip(point, f"{self.name}: probability {x:.3f}, {seen} {y:.3f}, {n} rows")
        if self.class_name:
            high = 1.08 * float(max(self.confidence.max(), self.share.max(), 1e-6))
            ax.set(xlim=(-0.04 * high, high), ylim=(-0.04 * high, high))
            ax.set(xlabel=f"probability of {self.class_name}", ylabel=f"share of {self.class_name}")
        else:
            low = max(0.0, float(min(self.confidence.min(), self.share.min())) - 0.05)
            ax.set(xlim=(low, 1.02), ylim=(low, 1.02), xlabel="probability", ylabel="share right")
        ax.set_title(f"{self.name}\ncalibration error {self.error:.3f}".strip(), fontsize="medium")
        return self


def plot_reliability(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 15,
    name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how often the most probable class is right, against its probability.

    Parameters
    ----------
    y : array-like of int, shape (n,)
        Codes of the true classes: columns of ``proba``.
    proba : array-like of shape (n, c)
        Predicted class probabilities.
    bins : int, default=15
        Number of bins, all of equal width.
    name : str, default=""
        The name of the method.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return ReliabilityDisplay.from_predictions(y, proba, bins=bins, name=name).plot(ax).ax_
