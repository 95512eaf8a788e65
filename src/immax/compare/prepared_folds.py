"""The features of a fold, with the preprocessing fitted to its training part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from immax.arrays import Array
from immax.compare.protocol import Split
from immax.tabular import Schema, prepare

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["PreparedFold", "PreparedFolds", "prepare_fold"]


@dataclass(frozen=True, eq=False)
class PreparedFold:
    """The features of the training part and of the test part of a fold."""

    train: Array
    test: Array


def prepare_fold(X: DataFrame, schema: Schema, split: Split) -> PreparedFold:
    """Fit the preprocessing to the training part of a fold and apply it to both parts.

    Parameters
    ----------
    X : DataFrame
    schema : Schema
    split : Split

    Returns
    -------
    PreparedFold
    """
    steps = prepare(schema)
    return PreparedFold(
        steps.fit_transform(X.iloc[split.train]), steps.transform(X.iloc[split.test])
    )


class PreparedFolds:
    """The prepared folds of a comparison, of which only the latest is kept in memory.

    Prepared features can be many times as large as the table (one-hot columns), so that keeping
    those of all folds would need more memory than all else. Methods run fold by fold instead.

    Parameters
    ----------
    X : DataFrame
    schema : Schema
    splits : sequence of Split
    """

    def __init__(self, X: DataFrame, schema: Schema, splits: Sequence[Split]) -> None:
        self._X, self._schema, self._splits = X, schema, splits
        self._latest: tuple[int, PreparedFold] | None = None

    def __getitem__(self, number: int) -> PreparedFold:
        if self._latest is None or self._latest[0] != number:
            self._latest = None  # released before the next one is made
            fold = prepare_fold(self._X, self._schema, self._splits[number])
            self._latest = number, fold
        return self._latest[1]
