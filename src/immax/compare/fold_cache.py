"""Results of finished folds in a folder, so that an interrupted comparison can be resumed."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from immax.arrays import Array
from immax.atomic import replacing

__all__ = ["FoldCache", "FoldResult"]


@dataclass(frozen=True, eq=False)
class FoldResult:
    """The result of a method on a fold.

    Attributes
    ----------
    labels : ndarray of shape (n_test,)
        The predicted classes of the test rows, as codes.
    proba : ndarray of shape (n_test, n_classes) or None
        The predicted probabilities; None if the method has none.
    seconds : float
        The time of fitting and predicting.
    chosen : mapping of str to object
        The hyper-parameters that were selected, as JSON can hold them.
    decision_proba : ndarray of shape (n_test, n_classes) or None
        The probabilities that labels were decided by, if they are not those of ``proba``.
    """

    labels: Array
    proba: Array | None
    seconds: float
    chosen: Mapping[str, object] = field(default_factory=dict)
    decision_proba: Array | None = None


class FoldCache:
    """Results by method and fold, in a folder of their own for each comparison.

    Parameters
    ----------
    folder : Path or None
        The parent of the folder; None to store nothing.
    identity : str
        A hash of everything that the results depend on.
    shapes : sequence of (int, int), default=()
        The number of test rows of each fold, and the number of classes. Results of another shape
        are not those of the fold, and are computed again.
    """

    def __init__(
        self, folder: Path | None, identity: str, shapes: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._folder = None if folder is None else folder / identity
        self._shapes = shapes

    def _path(self, method: str, fold: int) -> Path | None:
        return None if self._folder is None else self._folder / f"{method}-{fold}.npz"

    def holds(self, method: str, fold: int) -> bool:
        """Return whether there is a stored result, which may turn out to be damaged.

        Parameters
        ----------
        method : str
        fold : int

        Returns
        -------
        bool
        """
        path = self._path(method, fold)
        return path is not None and path.is_file()

    def load(self, method: str, fold: int) -> FoldResult | None:
        """Return a stored result, or None if there is none that can be read.

        Parameters
        ----------
        method : str
        fold : int

        Returns
        -------
        FoldResult or None
        """
        path = self._path(method, fold)
        if path is None or not path.is_file():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                about = json.loads(str(data["about"]))
                proba, decision_proba = (
                    data[name] if name in data.files else None
                    for name in ("proba", "decision_proba")
                )
                result = FoldResult(
                    data["labels"],
                    proba,
                    float(about["seconds"]),
                    dict(about["chosen"]),
                    decision_proba,
                )
        except (OSError, ValueError, TypeError, KeyError, EOFError, zlib.error, zipfile.BadZipFile):
            return None
        return result if not self._shapes or _fits(result, *self._shapes[fold]) else None

    def save(self, method: str, fold: int, result: FoldResult) -> None:
        """Store a result; the file is written atomically.

        Parameters
        ----------
        method : str
        fold : int
        result : FoldResult
        """
        path = self._path(method, fold)
        if path is None:
            return
        about = json.dumps({"seconds": result.seconds, "chosen": dict(result.chosen)})
        content = {"labels": result.labels, "about": np.array(about)}
        for name in ("proba", "decision_proba"):
            if getattr(result, name) is not None:
                content[name] = getattr(result, name)
        with replacing(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **content)  # type: ignore[arg-type]


def _fits(result: FoldResult, n_test: int, n_classes: int) -> bool:
    """Whether a result can be that of a fold with so many test rows and classes."""
    labels = result.labels
    if labels.shape != (n_test,) or labels.dtype.kind not in "iu":
        return False
    if n_test and not (labels.min() >= 0 and labels.max() < n_classes):
        return False
    return all(
        proba is None or (proba.shape == (n_test, n_classes) and proba.dtype.kind == "f")
        for proba in (result.proba, result.decision_proba)
    )
