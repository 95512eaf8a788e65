"""Image data sets in memory-mapped arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.lib.format import open_memmap

from immax.arrays import Array
from immax.datasets.cache import cache_dir

__all__ = ["PARTS", "ImageData", "ImageFiles", "Part", "data_folder", "not_found"]

Part = Literal["train", "test"]

PARTS: tuple[Part, Part] = ("train", "test")


@dataclass(frozen=True, eq=False)
class ImageData:
    """A training and a test set of images.

    Attributes
    ----------
    X_train, X_test : ndarray of uint8, shape (n, channels, height, width)
        Mapped from disk, and not to be written to.
    y_train, y_test : ndarray of int64, shape (n,)
        Indices of class_names.
    class_names : tuple of str
    name : str
    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    class_names: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class ImageFiles:
    """The folder that an ImageData is kept in."""

    folder: Path

    def images(self, part: Part, shape: tuple[int, ...]) -> Array:
        """An array on disk, to be filled."""
        return open_memmap(self.folder / f"X_{part}.npy", "w+", np.uint8, shape)

    def write_labels(self, part: Part, labels: Array) -> None:
        """Keep the labels as whole numbers."""
        np.save(self.folder / f"y_{part}.npy", labels.astype(np.int64))

    def write_names(self, class_names: Sequence[str]) -> None:
        """Keep the names of the classes."""
        names = json.dumps(list(class_names))
        (self.folder / "class_names.json").write_text(names, encoding="utf-8")

    def load(self, name: str) -> ImageData:
        """Map the images and read the rest."""
        arrays = {
            f"{axis}_{part}": np.load(
                self.folder / f"{axis}_{part}.npy", mmap_mode="r" if axis == "X" else None
            )
            for axis in "Xy"
            for part in PARTS
        }
        names = json.loads((self.folder / "class_names.json").read_text(encoding="utf-8"))
        return ImageData(**arrays, class_names=tuple(names), name=name)


def data_folder(data_dir: str | Path | None) -> Path:
    """What the caller says, or where downloads are kept."""
    return cache_dir() / "downloads" if data_dir is None else Path(data_dir).expanduser()


def not_found(name: str, where: Path, looked_for: str, remedy: str) -> FileNotFoundError:
    """The error that says what was looked for and how to get it."""
    return FileNotFoundError(
        f"{name} is not in {where}: looked for {looked_for}; {remedy}, or say where it is by "
        "data_dir (--data-dir on the command line)"
    )
