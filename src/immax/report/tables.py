"""The tables of a comparison's page."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from immax.compare.protocol import Comparison
from immax.margins import theory_margins

__all__ = ["ClassRow", "DataRow", "class_rows", "confusion", "data_rows"]


class DataRow(NamedTuple):
    """A class of the data."""

    name: str
    rows: int
    share: float
    theory: float  # margin, as a share of the sum


class ClassRow(NamedTuple):
    """What a method makes of a class."""

    name: str
    recall: float
    precision: float
    f1: float
    rows: int


def data_rows(found: Comparison) -> list[DataRow]:
    """The classes, the most frequent first."""
    counts, theory = found.counts, theory_margins(found.counts, total=1)
    order = np.argsort(-counts, kind="stable")
    return [
        DataRow(found.class_names[k], int(counts[k]), counts[k] / counts.sum(), float(theory[k]))
        for k in order
    ]


def class_rows(found: Comparison, name: str) -> list[ClassRow]:
    """Recall and precision over all test parts, the most frequent class first."""
    y, said, _ = found.pooled(name)
    codes = np.arange(len(found.classes))
    parts = precision_recall_fscore_support(y, said, labels=codes, zero_division=0)
    order = np.argsort(-found.counts, kind="stable")
    return [
        ClassRow(
            found.class_names[k],
            float(parts[1][k]),
            float(parts[0][k]),
            float(parts[2][k]),
            int(parts[3][k]),
        )
        for k in order
    ]


def confusion(found: Comparison, name: str) -> list[list[dict[str, Any]]]:
    """Rows are true classes; a cell has its count and its share of the row."""
    y, said, _ = found.pooled(name)
    table = confusion_matrix(y, said, labels=np.arange(len(found.classes)))
    return [
        [
            {"count": int(n), "share": float(n / max(row.sum(), 1)), "right": i == j}
            for j, n in enumerate(row)
        ]
        for i, row in enumerate(table)
    ]
