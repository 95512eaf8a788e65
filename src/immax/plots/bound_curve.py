"""The terms of the uniform margin bound as the margins are scaled up and down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.arrays import Vector
from immax.plots.axes import get_axes
from immax.plots.certificate import TERMS
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from immax.theory import Certificate

__all__ = ["BoundCurveDisplay", "plot_bound_curve"]


@dataclass(eq=False)
class BoundCurveDisplay(Display):
    """Uniform margin bound against the scale of the margins, its three terms stacked.

    Parameters
    ----------
    scale : ndarray of shape (n,)
        Multiples of the margins that make the bound smallest.
    empirical, complexity, confidence : ndarray of shape (n,)
        The terms of the bound.
    least : float
        The smallest bound.
    """

    scale: Vector
    empirical: Vector
    complexity: Vector
    confidence: Vector
    least: float

    @classmethod
    def from_certificate(cls, certificate: Certificate) -> Self:
        """Create the display from a certificate.

        Parameters
        ----------
        certificate : Certificate
            What ``immax.theory.certificate`` returns.

        Returns
        -------
        BoundCurveDisplay
        """
        curve = certificate.curve()
        terms = curve["empirical"], curve["complexity"], curve["confidence"]
        return cls(curve["scale"], *terms, certificate.best.total)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the bound; it is vacuous above the dashed line, smallest at the dotted one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        BoundCurveDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 6, 4)
        terms = [self.empirical, self.complexity, self.confidence]
        labels, colors = zip(*TERMS.values(), strict=True)
        ax.stackplot(self.scale, *terms, labels=labels, colors=colors)
        ax.axhline(1, color="black", linestyle="--", linewidth=1)
        ax.axvline(1, color="black", linestyle=":", linewidth=1)
        top = max(1.6, min(2.5 * self.least, float(np.sum(terms, axis=0).max())))
        ax.set(
            xscale="log",
            xlabel="margins, as a multiple of the best ones",
            ylabel="bound on the error",
            ylim=(0, top),
        )
        ax.text(self.scale[0], 1, " vacuous above", va="bottom", ha="left")
        ax.legend(loc="upper right")
        return self


def plot_bound_curve(certificate: Certificate, ax: Axes | None = None) -> Axes:
    """Draw the uniform margin bound against the scale of the margins.

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
    return BoundCurveDisplay.from_certificate(certificate).plot(ax).ax_
