"""The base of all displays: plots as objects, computed once and drawn as often as needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Display"]


@dataclass
class Display:
    """A plot as an object; ``ax_`` and ``figure_`` hold what ``plot`` drew last."""

    ax_: Any = field(default=None, init=False, repr=False)

    @property
    def figure_(self) -> Any:
        return self.ax_.figure
