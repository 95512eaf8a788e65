"""What users should know about a table before a model is fitted to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from immax.arrays import Array
from immax.optional import optional_import
from immax.tabular.cells import Cells, as_text
from immax.tabular.columns import MISSING_WORDS, Column, Schema
from immax.tabular.conversion import Remarks
from immax.tabular.date_formats import ISO
from immax.tabular.number_columns import ID_NAME
from immax.tabular.number_formats import LEADING_ZERO, NEEDS_ARROW

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["find_leaks", "label_notices", "reading_notices", "value_notices"]

MOST_NAMED = 8  # columns that one notice names
MOST_ROWS = 20_000  # rows by which leaks are looked for
FEWEST_ROWS = 30  # rows, and of the rarest class, from which a leak can be told from chance
FEWEST_OF_CLASS = 5
NEARLY = 0.995  # balanced accuracy of a column alone, from which it is nearly a copy
FAR = 1e6  # interquartile ranges from the median, from which a value is absurd


def reading_notices(schema: Schema) -> list[str]:
    """Return what is notable about how columns are read.

    Parameters
    ----------
    schema : Schema

    Returns
    -------
    list of str
        The most important first: whether most columns are left out.
    """
    left_out, used = schema.left_out(), schema.used()
    notices = []
    if len(left_out) > len(used):
        rest = _listed([column.name for column in used]) if used else "nothing"
        notices.append(
            f"WARNING: most columns are left out ({len(left_out)} of {len(schema.columns)}); what "
            f"is left is {rest}"
        )
    notices += [f"left out {column.name!r}: {column.why}" for column in left_out]
    for column in used:
        notices += _how_it_is_read(column)
    return notices


def label_notices(y: Series, repeated: Sequence[str] = ()) -> list[str]:
    """Return what is notable about labels and about names of columns.

    Parameters
    ----------
    y : Series
        The labels.
    repeated : sequence of str
        The names that more than one column has.

    Returns
    -------
    list of str
    """
    notices = [
        f"the name {name!r} is that of more than one column: the others are {name}.1, …"
        for name in repeated
    ]
    if y.dtype != object:
        return notices
    labels = sorted(map(str, y.unique()))
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    notices += [
        f"the labels {_listed(group)} differ only by spaces or case: are they one class?"
        for group in groups.values()
        if len(group) > 1
    ]
    for word in sorted(set(MISSING_WORDS) & set(labels)):
        count = int((y == word).sum())
        notices.append(
            f"the label {word!r} is read as a class, with {count:,} rows; if it stands for a "
            "missing label, remove these rows"
        )
    return notices


def value_notices(
    cells: Mapping[str, Cells], X: DataFrame, schema: Schema, remarks: Remarks
) -> list[str]:
    """Return what is notable about the values of columns.

    Parameters
    ----------
    cells : mapping of str to cells
        The columns as they were in the file.
    X : DataFrame
        The columns as they were read.
    schema : Schema
    remarks : Remarks
        What was noticed while they were read.

    Returns
    -------
    list of str
    """
    notices = remarks.notices()
    for column in schema.used():
        if column.kind == "number":
            notices += _number_notices(column, X[column.name].to_numpy(np.float64))
        elif column.kind == "category":
            notices += _category_notices(column, cells[column.name])
    return notices


def find_leaks(X: DataFrame, y: Series, schema: Schema) -> list[str]:
    """Return notices of columns that determine the target by themselves, or nearly so.

    A column's merit is its balanced accuracy alone: that of a tree with one leaf for each class
    for numbers and dates, and that of the most likely class of each category, estimated without
    the row itself.

    Parameters
    ----------
    X : DataFrame
    y : Series
    schema : Schema

    Returns
    -------
    list of str
    """
    step = 1 + (len(X) - 1) // MOST_ROWS
    classes, codes = np.unique(y.to_numpy()[::step].astype(str), return_inverse=True)
    counts = np.bincount(codes)
    if len(codes) < FEWEST_ROWS or len(classes) < 2 or counts.min() < FEWEST_OF_CLASS:
        return []
    notices = []
    for column in schema.used():
        values = X[column.name].iloc[::step]
        if column.kind in ("category", "boolean"):
            merit = _merit_of_categories(values, codes, counts)
        else:
            merit = _merit_of_numbers(values, codes, counts)
        if merit >= NEARLY:
            how = "determines" if merit == 1 else "nearly determines"
            notices.append(
                f"WARNING: the column {column.name!r} {how} the target by itself (balanced "
                f"accuracy {merit:.4f}): is it known when predictions are made? "
                f"--kind {column.name}=drop leaves it out"
            )
    return notices


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_NAMED]))
    return f"{shown}, …" if len(names) > MOST_NAMED else shown


def _how_it_is_read(column: Column) -> list[str]:
    notices = []
    if column.kind == "number" and not column.number_format.is_plain:
        how = column.number_format.describe()
        notices.append(f"the column {column.name!r} is read as numbers: {how}")
    if column.kind == "date" and column.date_format != ISO:
        notices.append(f"the column {column.name!r} is read as dates: {column.date_format}")
    marks = [word for word in column.missing if word not in MISSING_WORDS]
    if marks:
        notices.append(f"in the column {column.name!r}, {_listed(marks)} is read as missing")
    if ID_NAME.search(column.name):
        notices.append(
            f"the column {column.name!r} looks like an identifier and is used as a feature: "
            f"--kind {column.name}=drop leaves it out"
        )
    return notices


def _number_notices(column: Column, values: Array) -> list[str]:
    present = values[~np.isnan(values)]
    notices = []
    whole = bool((present % 1 == 0).all())
    steps = np.diff(present)
    if whole and present.size >= FEWEST_ROWS and ((steps > 0).all() or (steps < 0).all()):
        notices.append(
            f"the column {column.name!r} is a running number, from {present[0]:g} to "
            f"{present[-1]:g} in the order of the rows, and is used as a feature: "
            f"--kind {column.name}=drop leaves it out"
        )
    low, middle, high = np.quantile(present, [0.25, 0.5, 0.75])
    distance = np.abs(present - middle)
    if high > low and distance.max() > FAR * (high - low):
        notices.append(
            f"the column {column.name!r} holds {present[distance.argmax()]:g}, which is far from "
            f"all else (half of the values are from {low:g} to {high:g})"
        )
    return notices


def _category_notices(column: Column, cells: Cells) -> list[str]:
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    categories = list(column.categories)
    words = sorted(set(categories) & set(MISSING_WORDS))
    notices = [
        f"in the column {column.name!r}, {word!r} is read as a category, not as missing"
        for word in words
    ]
    groups: dict[str, list[str]] = {}
    for category in categories:
        groups.setdefault(" ".join(category.split()).casefold(), []).append(category)
    same = [group for group in groups.values() if len(group) > 1]
    if same:
        notices.append(
            f"in the column {column.name!r}, the categories {_listed(same[0])} differ only by "
            "spaces or case"
        )
    values = as_text(cells).drop_null().unique()
    zeros = values.filter(compute.match_substring_regex(values, LEADING_ZERO + "+$"))
    if len(zeros):
        notices.append(
            f"the column {column.name!r} is read as categories, because of leading zeros such as "
            f"in {zeros[0].as_py()!r}"
        )
    return notices


def _merit_of_categories(values: Series, codes: Array, counts: Array) -> float:
    """Return the balanced accuracy of the most likely class of each category, without the row."""
    categories, inverse = np.unique(values.astype(str).to_numpy(str), return_inverse=True)
    table = np.zeros((len(categories), len(counts)))
    np.add.at(table, (inverse, codes), 1.0)
    shares = table / counts
    own = np.maximum(table - 1, 0) / counts
    correct = 0.0
    for k in range(len(counts)):
        others = np.delete(shares, k, axis=1).max(axis=1)
        correct += float((table[:, k] * (own[:, k] > others)).sum() / counts[k])
    return correct / len(counts)


def _merit_of_numbers(values: Series, codes: Array, counts: Array) -> float:
    """Return the balanced accuracy of a tree with as many leaves as there are classes."""
    from sklearn.tree import DecisionTreeClassifier

    numbers = values.to_numpy()
    if numbers.dtype.kind == "M":
        days = numbers.astype("datetime64[s]").astype(np.int64) / 86_400
        numbers = np.where(np.isnat(numbers), np.nan, days)
    # Trees work in single precision: ranks keep large numbers apart.
    missing = np.isnan(numbers.astype(np.float64))
    ranks = np.unique(numbers[~missing], return_inverse=True)[1]
    column = np.full(len(numbers), np.nan, dtype=np.float32)
    column[~missing] = ranks
    tree = DecisionTreeClassifier(
        max_leaf_nodes=len(counts), class_weight="balanced", random_state=0
    )
    predicted = tree.fit(column[:, None], codes).predict(column[:, None])
    recalls = np.bincount(codes, weights=predicted == codes) / counts
    return float(recalls.mean())
