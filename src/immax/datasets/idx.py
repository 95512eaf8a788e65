"""MNIST and Fashion-MNIST, from idx files.

An idx file holds two zero bytes, one byte for the type of its values (8 means bytes), one for the
number of dimensions, the dimensions as four bytes each, and the values.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from immax.arrays import Array
from immax.datasets.cache import converted
from immax.datasets.images import PARTS, ImageData, ImageFiles, data_folder, not_found

__all__ = ["load_fashion_mnist", "load_mnist"]

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
BYTE = 8
SIDE = 28
IMAGES = {"train": "train-images-idx3-ubyte", "test": "t10k-images-idx3-ubyte"}
LABELS = {"train": "train-labels-idx1-ubyte", "test": "t10k-labels-idx1-ubyte"}
GARMENTS = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def load_mnist(data_dir: str | Path | None = None) -> ImageData:
    """Load MNIST: 28 × 28 greyscale images of handwritten digits.

    Parameters
    ----------
    data_dir : str or Path, optional
        The folder of the four idx files, plain or ``.gz``, or one that holds them in ``mnist`` or
        ``MNIST/raw``. By default, the folder ``downloads`` in the cache.

    Returns
    -------
    ImageData

    Raises
    ------
    FileNotFoundError
        If the files are not found.
    ValueError
        If they are damaged.
    """
    where = data_folder(data_dir)
    digits = tuple(str(digit) for digit in range(10))
    return _load("MNIST", where, ("mnist", "MNIST/raw"), digits, "put the four files there")


def load_fashion_mnist(data_dir: str | Path | None = None) -> ImageData:
    """Load Fashion-MNIST: 28 × 28 greyscale images of ten kinds of garments.

    Parameters
    ----------
    data_dir : str or Path, optional
        The folder of the four idx files, plain or ``.gz``, or one that holds them in
        ``fashion-mnist`` or ``FashionMNIST/raw``. By default, the folder of Debian's package
        dataset-fashion-mnist.

    Returns
    -------
    ImageData

    Raises
    ------
    FileNotFoundError
        If the files are not found.
    ValueError
        If they are damaged.
    """
    where = DEBIAN if data_dir is None else data_folder(data_dir)
    remedy = "on Debian, apt-get install dataset-fashion-mnist"
    folders = ("fashion-mnist", "FashionMNIST/raw")
    return _load("Fashion-MNIST", where, folders, GARMENTS, remedy)


def _load(
    name: str, where: Path, folders: tuple[str, ...], class_names: tuple[str, ...], remedy: str
) -> ImageData:
    wanted = [*IMAGES.values(), *LABELS.values()]
    for folder in (where, *(where / inner for inner in folders)):
        present = {file: path for file in wanted if (path := _plain_or_compressed(folder / file))}
        if present:
            break
    missing = [file for file in wanted if file not in present]
    if missing:
        looked_for = ", ".join(f"{file}[.gz]" for file in missing)
        raise not_found(name, folder if present else where, looked_for, remedy)

    def convert(to: Path) -> None:
        files = ImageFiles(to)
        for part in PARTS:
            images = read_idx(present[IMAGES[part]], (SIDE, SIDE))
            labels = read_idx(present[LABELS[part]], ())
            if len(images) != len(labels):
                raise ValueError(
                    f"{present[LABELS[part]]} must hold a label for each of the {len(images)} "
                    f"images; got {len(labels)}"
                )
            if labels.max(initial=0) >= len(class_names):
                raise ValueError(
                    f"the labels in {present[LABELS[part]]} must lie in 0 to "
                    f"{len(class_names) - 1}; got {labels.max()}"
                )
            files.images(part, (len(images), 1, SIDE, SIDE))[:] = images[:, None]
            files.write_labels(part, labels)
        files.write_names(class_names)

    return ImageFiles(converted(name.lower(), present.values(), convert)).load(name)


def _plain_or_compressed(path: Path) -> Path | None:
    choices = (path, path.with_name(path.name + ".gz"))
    return next((choice for choice in choices if choice.is_file()), None)


def read_idx(path: Path, shape: tuple[int, ...]) -> Array:
    """Read an idx file of bytes.

    Parameters
    ----------
    path : Path
        The file, plain or ``.gz``.
    shape : tuple of int
        The expected shape of a sample.

    Returns
    -------
    ndarray of uint8, shape (n, *shape)

    Raises
    ------
    ValueError
        If the file is damaged or holds something else.
    """
    try:
        raw = path.read_bytes()
        content = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} cannot be decompressed: {error}") from error
    n_dims = 1 + len(shape)
    begin = 4 + 4 * n_dims
    magic = bytes([0, 0, BYTE, n_dims])
    if content[:4] != magic or len(content) < begin:
        raise ValueError(
            f"{path} must begin with the header of an idx file of bytes in {n_dims} dimensions, "
            f"{magic.hex(' ')}; got {content[:4].hex(' ') or 'nothing'}"
        )
    dims = struct.unpack(f">{n_dims}I", content[4:begin])
    if dims[1:] != shape:
        raise ValueError(f"{path} must hold samples of shape {shape}; got {dims[1:]}")
    if not dims[0]:
        raise ValueError(f"{path} holds no samples")
    expected = math.prod(dims)
    if len(content) - begin != expected:
        raise ValueError(
            f"{path} must hold {expected} bytes after its header; got {len(content) - begin}"
        )
    return np.frombuffer(content, np.uint8, offset=begin).reshape(dims)
