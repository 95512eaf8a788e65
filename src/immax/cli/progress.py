"""Progress bars on a terminal; nothing in a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from immax.bench.cells import Cell, NetworkCell, TrialCell
from immax.bench.store import Store

__all__ = ["Bars", "quiet_progress"]


def quiet_progress() -> Progress:
    """Bars on standard error, if that is a terminal."""
    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # earlier versions of rich end with an empty line
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


class Bars:
    """One bar for the cells of a plan, one for the epochs of the present cell."""

    def __init__(self, store: Store, epochs: int) -> None:
        self._store, self._epochs = store, epochs
        self._progress = quiet_progress()
        counts = store.counts()
        self._cells = self._progress.add_task(
            "cells", total=sum(counts.values()), completed=counts["done"] + counts["failed"]
        )
        self._own = self._progress.add_task("", total=epochs, visible=False)

    def cell(self, cell: Cell, state: str) -> None:
        """A cell has begun or ended."""
        if state == "begun":
            self._progress.reset(self._own, description=cell.label(), visible=False)
            self._progress.update(self._cells, description=cell.label())
        else:
            counts = self._store.counts()
            self._progress.update(self._cells, completed=counts["done"] + counts["failed"])

    def epoch(self, cell: Cell, number: int, point: Mapping[str, float]) -> None:
        """An epoch has ended."""
        text = f"epoch, loss {point['loss']:.3f}"
        total = self._epochs
        if isinstance(cell, TrialCell | NetworkCell):
            total = cell.training.epochs
        self._progress.update(
            self._own, description=text, completed=number, total=total, visible=True
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()
