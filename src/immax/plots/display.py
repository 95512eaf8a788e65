"""The base class of all displays: plots as objects, computed once and drawn any number of times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Display"]


@dataclass(eq=False)
class Display:
    """Base class of the displays, with the same interface as scikit-learn's.

    A class method ``from_…`` computes what is drawn, and ``plot`` draws it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What ``plot`` drew on last; not there before the first call.
    """

    ax_: Axes = field(init=False, repr=False)

    @property
    def figure_(self) -> Figure:
        """The figure of ``ax_``.

        Raises
        ------
        AttributeError
            If ``plot`` has not been called.
        """
        if not hasattr(self, "ax_"):
            raise AttributeError("nothing has been drawn yet: call plot() first")
        return cast("Figure", self.ax_.figure)
