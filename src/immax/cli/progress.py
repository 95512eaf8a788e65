"""Progress bars, which are shown on a terminal only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from immax.evaluation.candidates import CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from immax.bench.cells import Cell
    from immax.bench.store import Store
    from immax.compare.fold_queue import FoldProgress

__all__ = ["Bars", "FoldBar", "quiet_progress"]


def quiet_progress(remaining: bool = True) -> Progress:
    """Return progress bars on standard error, which are hidden unless it is a terminal.

    Parameters
    ----------
    remaining : bool, default=True
        Whether to show the time that is left, by the mean time of the steps so far.

    Returns
    -------
    rich.progress.Progress
    """
    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # earlier versions of rich end with an empty line
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *([TimeRemainingColumn()] if remaining else []),
        console=console,
        disable=not console.is_terminal,
    )


class FoldBar:
    """A bar for the fits of a comparison."""

    def __init__(self) -> None:
        self._progress = quiet_progress(remaining=False)  # methods take very different times
        self._task = self._progress.add_task("reading", total=None)

    def update(self, name: str, done: int, total: int) -> None:
        """Show the current method and the number of finished fits.

        Parameters
        ----------
        name : str
            A name of ``CANDIDATES``; empty at the end.
        done, total : int
            The number of finished fits, and of all of them.
        """
        text = CANDIDATES[name].title if name else "done"
        self._progress.update(self._task, description=text, completed=done, total=total)

    def show(self, progress: FoldProgress) -> None:
        """Show what is being fitted, how far the fits are, and how long they will take.

        Parameters
        ----------
        progress : FoldProgress
        """
        fits = ", ".join(CANDIDATES[name].title for name in progress.running)
        text = ": ".join(part for part in (fits, progress.reading) if part) or "done"
        if progress.seconds_left is not None and text != "done":
            text += f", about {_duration(progress.seconds_left)} left"
        self._progress.update(
            self._task, description=text, completed=progress.done, total=progress.total
        )

    def describe(self, text: str) -> None:
        """Show what is being done.

        Parameters
        ----------
        text : str
        """
        self._progress.update(self._task, description=text)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Bars:
    """A bar for the cells of a plan, and one for the epochs of the current cell.

    Parameters
    ----------
    store : Store
    epochs : int
        The number of epochs, unless a cell has a number of its own.
    """

    def __init__(self, store: Store, epochs: int) -> None:
        self._store, self._epochs = store, epochs
        self._progress = quiet_progress()
        counts = store.counts()
        self._cells = self._progress.add_task(
            "cells", total=sum(counts.values()), completed=counts["done"] + counts["failed"]
        )
        self._own = self._progress.add_task("", total=epochs, visible=False)

    def cell(self, cell: Cell, state: str) -> None:
        """Show that a cell has begun or ended.

        Parameters
        ----------
        cell : Cell
        state : str
            "begun", or the state in which the cell has ended.
        """
        if state == "begun":
            self._progress.reset(self._own, description=cell.label(), visible=False)
            self._progress.update(self._cells, description=cell.label())
        else:
            counts = self._store.counts()
            self._progress.update(self._cells, completed=counts["done"] + counts["failed"])

    def epoch(self, cell: Cell, number: int, point: Mapping[str, float]) -> None:
        """Show that an epoch has ended.

        Parameters
        ----------
        cell : Cell
        number : int
            The number of finished epochs.
        point : mapping of str to float
            The measures of the epoch, with its loss.
        """
        from immax.bench.cells import NetworkCell, TrialCell

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

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
