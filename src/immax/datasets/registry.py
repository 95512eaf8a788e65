"""Data sets by name: one row for each reader of images, and for each collection of tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from immax.arrays import Array
from immax.datasets.cifar import load_cifar10, load_cifar100
from immax.datasets.idx import load_fashion_mnist, load_mnist
from immax.datasets.images import ImageData
from immax.datasets.keel import keel_names, load_keel
from immax.datasets.multiclass import load_multiclass, multiclass_names
from immax.datasets.tiny_imagenet import load_tiny_imagenet
from immax.validation import nearest

__all__ = ["COLLECTIONS", "READERS", "Collection", "ImageReader", "load_images"]


@dataclass(frozen=True)
class ImageReader:
    """A data set that can be loaded by name.

    Parameters
    ----------
    load : callable
        The function that loads it; its first argument is ``data_dir``.
    can_download : bool, default=True
        Whether the function takes ``download``.
    """

    load: Callable[..., ImageData]
    can_download: bool = True

    def __call__(self, data_dir: str | Path | None = None, *, download: bool = False) -> ImageData:
        """Load the data set.

        Parameters
        ----------
        data_dir : str or Path, optional
            Where the files are; by default, where the reader looks for them.
        download : bool, default=False
            Whether to download what is not there; ignored by readers that cannot.

        Returns
        -------
        ImageData
        """
        if self.can_download:
            return self.load(data_dir, download=download)
        return self.load(data_dir)


READERS: dict[str, ImageReader] = {
    "cifar10": ImageReader(load_cifar10),
    "cifar100": ImageReader(load_cifar100),
    "fashion_mnist": ImageReader(load_fashion_mnist, can_download=False),
    "mnist": ImageReader(load_mnist, can_download=False),
    "tiny_imagenet": ImageReader(load_tiny_imagenet),
}


@dataclass(frozen=True)
class Collection:
    """Tables that can be loaded by name.

    Parameters
    ----------
    names : callable
        Returns their names.
    load : callable
        From a name to features, class codes and the names of the classes.
    two_classes : bool
        Whether all of them have two classes.
    """

    names: Callable[[], list[str]]
    load: Callable[[str], tuple[Array, Array, tuple[str, ...]]]
    two_classes: bool


def _load_keel(name: str) -> tuple[Array, Array, tuple[str, ...]]:
    return (*load_keel(name), ("negative", "positive"))


COLLECTIONS: dict[str, Collection] = {
    "keel": Collection(keel_names, _load_keel, two_classes=True),
    "multiclass": Collection(multiclass_names, load_multiclass, two_classes=False),
}


def load_images(
    name: str, data_dir: str | Path | None = None, *, download: bool = False
) -> ImageData:
    """Load an image data set by name.

    Parameters
    ----------
    name : str
        A key of ``READERS``.
    data_dir : str or Path, optional
        Where the files are; by default, where the reader looks for them.
    download : bool, default=False
        Whether to download what is not there; ignored by readers that cannot.

    Returns
    -------
    ImageData

    Raises
    ------
    ValueError
        If there is no data set of this name.
    FileNotFoundError
        If the files are not found.
    """
    if name not in READERS:
        raise ValueError(f"there is no image data set {name!r}{nearest(name, READERS)}")
    return READERS[name](data_dir, download=download)
