"""The margins of a model beside the theory's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.margins import theory_margins
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

__all__ = ["MarginsDisplay", "plot_margins"]


@dataclass
class MarginsDisplay(Display):
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
        theory = None if counts is None else theory_margins(counts, total=1)
        return cls(rho / rho.sum(), theory, [str(name) for name in names])

    def plot(self, ax: Any = None) -> Self:
        """Bars for the model's margins, lines across them for the others."""
        n = self.margins.size
        self.ax_ = ax = get_axes(ax, 6, 1.4 + 0.32 * n)
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
            set_tooltip(bar, text)
        ax.set_yticks(places, [str(name)[:24] for name in self.class_names])
        ax.set_xlabel("share of the sum of all margins")
        ax.legend(fontsize="small")
        return self


def plot_margins(model: Any, counts: ArrayLike | None = None, ax: Any = None) -> Any:
    """Draw the margins of a fitted model; with class counts, the theory's beside them."""
    return MarginsDisplay.from_estimator(model, counts).plot(ax).ax_
