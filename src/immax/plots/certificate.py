"""The generalisation bounds of a certificate, term by term, with the training error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.plots.axes import get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from immax.theory import Bound, Certificate

__all__ = ["TERMS", "CertificateDisplay", "plot_certificate"]

TERMS = {  # attribute of a bound: label, colour
    "empirical": ("empirical margin loss", "#4477aa"),
    "complexity": ("complexity", "#ee8866"),
    "confidence": ("confidence", "#bbbbbb"),
}
WIDEST = 2.5  # where bounds that are far above one are cut off


@dataclass(eq=False)
class CertificateDisplay(Display):
    """Terms of the bounds on a model's error, with its training error.

    Parameters
    ----------
    bounds : sequence of Bound
        The bounds to draw.
    labels : sequence of str
        What each bound is for.
    training_error : float
        Error of the model on the sample that the bounds come from.
    """

    bounds: Sequence[Bound]
    labels: Sequence[str]
    training_error: float

    @classmethod
    def from_certificate(cls, certificate: Certificate) -> Self:
        """Create the display from a certificate.

        Parameters
        ----------
        certificate : Certificate
            What ``immax.theory.certificate`` returns.

        Returns
        -------
        CertificateDisplay
        """
        labels = ("the model's own margins", "the best margins")
        return cls((certificate.own, certificate.best), labels, certificate.training_error)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar for each bound, its terms stacked; the solid line is the training error.

        A bound of one or more (to the right of the dashed line) is vacuous. Bars far above one
        are cut off; their label gives the value.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        CertificateDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 7, 1.4 + 0.6 * len(self.bounds))
        heights = np.arange(len(self.bounds))[::-1]
        limit = float(np.clip(1.15 * max(bound.total for bound in self.bounds), 1.15, WIDEST))
        starts = np.zeros(len(self.bounds))
        for term, (label, color) in TERMS.items():
            widths = np.array([getattr(bound, term) for bound in self.bounds])
            bars = ax.barh(heights, widths, 0.5, left=starts, color=color, label=label)
            for bar, name, width in zip(bars, self.labels, widths, strict=True):
                set_tooltip(bar, f"{name}: {label} {width:.3f}")
            starts = starts + widths
        for height, bound in zip(heights, self.bounds, strict=True):
            cut_off = bound.total > limit
            place = limit if cut_off else bound.total
            side = "right" if cut_off else "left"
            ax.text(place, height + 0.27, f"{bound.total:.3g}", ha=side, va="bottom")
        ax.axvline(self.training_error, color="black", linewidth=1.5, label="training error")
        ax.axvline(1, color="black", linestyle="--", linewidth=1, label="vacuous from here")
        ax.set_yticks(heights, self.labels)
        ax.set(xlim=(0, limit), ylim=(-0.5, len(self.bounds) - 0.2), xlabel="bound on the error")
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3)
        return self


def plot_certificate(certificate: Certificate, ax: Axes | None = None) -> Axes:
    """Draw the terms of a certificate's bounds, with the training error.

    Parameters
    ----------
    certificate : Certificate
        What ``immax.theory.certificate`` returns.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return CertificateDisplay.from_certificate(certificate).plot(ax).ax_
