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

    Parameters
    ----------
    X_train, X_test : ndarray of uint8, shape (n, channels, height, width)
        Memory-mapped and read-only.
    y_train, y_test : ndarray of int64, shape (n,)
        Indices of ``class_names``.
    class_names : tuple of str
        Names of the classes.
    name : str
        The name of the data set.
    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    class_names: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class ImageFiles:
    """The files of an image data set in the cache.

    Parameters
    ----------
    folder : Path
        The folder that holds them.
    """

    folder: Path

    def images(self, part: Part, shape: tuple[int, ...]) -> Array:
        """Create an array of images on disk, to be filled by the caller.

        Parameters
        ----------
        part : {"train", "test"}
            Which set the images belong to.
        shape : tuple of int
            (n, channels, height, width).

        Returns
        -------
        ndarray of uint8
            A writable memory map.
        """
        return open_memmap(self.folder / f"X_{part}.npy", "w+", np.uint8, shape)

    def write_labels(self, part: Part, labels: Array) -> None:
        """Write the labels as integers.

        Parameters
        ----------
        part : {"train", "test"}
            Which set the labels belong to.
        labels : ndarray of shape (n,)
            Indices of classes.
        """
        np.save(self.folder / f"y_{part}.npy", labels.astype(np.int64))

    def write_names(self, class_names: Sequence[str]) -> None:
        """Write the names of the classes.

        Parameters
        ----------
        class_names : sequence of str
            The names.
        """
        names = json.dumps(list(class_names))
        (self.folder / "class_names.json").write_text(names, encoding="utf-8")

    def load(self, name: str) -> ImageData:
        """Map the images into memory and read labels and names.

        Parameters
        ----------
        name : str
            The name of the data set.

        Returns
        -------
        ImageData
        """
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
    """Return the folder to look for data in.

    Parameters
    ----------
    data_dir : str, Path or None
        The folder that the caller asks for; None means ``downloads`` in the cache.

    Returns
    -------
    Path
    """
    return cache_dir() / "downloads" if data_dir is None else Path(data_dir).expanduser()


def not_found(name: str, where: Path, looked_for: str, remedy: str) -> FileNotFoundError:
    """Return the error for data that is not there.

    Parameters
    ----------
    name : str
        The name of the data set.
    where : Path
        The folder that was searched.
    looked_for : str
        Names of the files that were searched for.
    remedy : str
        How to get the data.

    Returns
    -------
    FileNotFoundError
    """
    return FileNotFoundError(
        f"{name} is not in {where}: looked for {looked_for}; {remedy}, or give its folder as "
        "data_dir (--data-dir on the command line)"
    )
