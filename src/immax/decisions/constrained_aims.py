"""Aims with a constraint: a precision or a recall to keep, or a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.decisions.aim import Aim
from immax.decisions.confusion import precisions, recalls

__all__ = ["Budget", "PrecisionAt", "RecallAt"]


def _share(name: str, value: float) -> None:
    if not isinstance(value, (int, float, np.number)) or not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {value!r}")


@dataclass(frozen=True)
class RecallAt(Aim):
    """The highest recall of the positive class whose precision is high enough.

    Parameters
    ----------
    precision : float
        The precision to keep, strictly between 0 and 1.
    """

    precision: float
    two_classes: ClassVar[bool] = True
    constrained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _share("precision", self.precision)

    @property
    def name(self) -> str:
        return f"recall at precision {self.precision:g}"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        own = precisions(confusion)[..., positive]
        recall = np.nan_to_num(recalls(confusion)[..., positive])
        return np.where(own >= self.precision, recall, own - self.precision)


@dataclass(frozen=True)
class PrecisionAt(Aim):
    """The highest precision of the positive class whose recall is high enough.

    Parameters
    ----------
    recall : float
        The recall to keep, strictly between 0 and 1.
    """

    recall: float
    two_classes: ClassVar[bool] = True
    constrained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _share("recall", self.recall)

    @property
    def name(self) -> str:
        return f"precision at recall {self.recall:g}"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        recall = np.nan_to_num(recalls(confusion)[..., positive])
        own = precisions(confusion)[..., positive]
        return np.where(recall >= self.recall, own, recall - self.recall)


@dataclass(frozen=True)
class Budget(Aim):
    """The most true positives when only some of the samples can be followed up.

    Parameters
    ----------
    share : float, optional
        The share of all samples, strictly between 0 and 1: the threshold is the lowest that at
        most this share of the samples exceeds. Samples of the same probability are flagged
        together or not at all.
    count : int, optional
        In place of a share: the most probable ``count`` rows of every call of ``predict``.
    """

    share: float | None = None
    count: int | None = None
    two_classes: ClassVar[bool] = True
    constrained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.share is None) == (self.count is None):
            raise ValueError("a budget needs either a share or a count")
        if self.share is not None:
            _share("share", self.share)
        elif (
            isinstance(self.count, bool)
            or not isinstance(self.count, (int, float, np.number))
            or not self.count >= 1
            or self.count % 1
        ):
            raise ValueError(f"count must be a positive whole number; got {self.count!r}")

    @property
    def name(self) -> str:
        if self.share is not None:
            return f"budget of {100 * self.share:g} %"
        return f"budget of {self.count}"

    def value(self, confusion: Array, positive: int = 1) -> Array:
        total = confusion.sum(axis=(-2, -1))
        predicted = confusion.sum(axis=-2)[..., positive]
        most = total * self.share if self.share is not None else float(self.count or 0)
        recall = np.nan_to_num(recalls(confusion)[..., positive])
        return np.where(predicted <= most + 1e-9 * total, recall, (most - predicted) / total)
