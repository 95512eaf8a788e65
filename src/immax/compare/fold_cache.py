"""Finished folds, kept in a folder, so that an interrupted comparison goes on."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.atomic import replacing

__all__ = ["Kept", "Piece"]


@dataclass(frozen=True)
class Piece:
    """A method on a fold: what it said of the test rows, how long it took, what it chose."""

    labels: Array
    proba: Array | None
    seconds: float
    chosen: dict[str, Any] = field(default_factory=dict)


class Kept:
    """Pieces by method and fold, of one identity; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, identity: str) -> None:
        self._folder = None if folder is None else folder / identity

    def _path(self, method: str, fold: int) -> Path | None:
        return None if self._folder is None else self._folder / f"{method}-{fold}.npz"

    def load(self, method: str, fold: int) -> Piece | None:
        """What was kept; a file that cannot be read counts as none."""
        path = self._path(method, fold)
        if path is None or not path.is_file():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                about = json.loads(str(data["about"]))
                proba = data["proba"] if "proba" in data.files else None
                return Piece(data["labels"], proba, about["seconds"], about["chosen"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, method: str, fold: int, piece: Piece) -> None:
        """Whole or not at all."""
        path = self._path(method, fold)
        if path is None:
            return
        content: dict[str, Any] = {
            "labels": piece.labels,
            "about": json.dumps({"seconds": piece.seconds, "chosen": piece.chosen}),
        }
        if piece.proba is not None:
            content["proba"] = piece.proba
        with replacing(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **content)
