"""The fits of a fold, and the line that a search prints when they are done."""

from __future__ import annotations

import time
from collections.abc import Sequence

from immax import __version__
from immax.arrays import Array
from immax.search.cells import Cells
from immax.search.families import MarginFamily
from immax.search.folds import Fold
from immax.search.held_out import HeldOutCells

__all__ = ["run_fold"]


def run_fold(
    cells: Cells,
    fold: Fold,
    family: MarginFamily,
    points: Sequence[Array],
    penalties: Array,
    label: str | None = None,
    version: str = __version__,  # noqa: ARG001
) -> HeldOutCells:
    """Fit all cells of a fold, and print a line when they are done if the fold has a label.

    The line is printed by the process that has done the work, so that it appears at once.

    Parameters
    ----------
    cells : Cells
        Fits them.
    fold : Fold
        Training samples and test samples.
    family : MarginFamily
        The margins.
    points : sequence of ndarray
        Parameters of the family.
    penalties : ndarray
        Values of lam or C.
    label : str, optional
        What the line begins with; without it nothing is printed.
    version : str
        Of this library: fits of another version are not taken from a cache.

    Returns
    -------
    HeldOutCells
    """
    start = time.perf_counter()
    scored = cells.run(fold, family, points, penalties)
    if label is not None:
        seconds = time.perf_counter() - start
        print(f"{label}: {len(points) * len(penalties)} fits in {seconds:.1f} s", flush=True)
    return scored
