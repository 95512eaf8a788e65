"""Tiny ImageNet: 64 × 64 images of 200 classes."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from immax.arrays import Array
from immax.datasets.cache import converted
from immax.datasets.download import Progress, Source, fetch
from immax.datasets.images import PARTS, ImageData, ImageFiles, data_folder, not_found
from immax.optional import optional_import

__all__ = ["load_tiny_imagenet"]

ReadFile = Callable[[str], bytes]

FOLDER = "tiny-imagenet-200"
SIDE = 64
SOURCE = Source(
    "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
    248100043,
    "md5:90528d7ca1a48142e341f4ef8d21d0de",
)


@dataclass(frozen=True)
class Counts:
    """Expected numbers of classes and images."""

    classes: int = 200
    train_images: int = 500  # per class
    test_images: int = 10_000


def load_tiny_imagenet(
    data_dir: str | Path | None = None,
    *,
    download: bool = False,
    progress: Progress | None = None,
) -> ImageData:
    """Load Tiny ImageNet: 100,000 training images, and the validation images as the test set.

    Classes are in the order of their WordNet identifiers, and named by ``words.txt``. Greyscale
    images are converted to RGB. Images are decoded once and cached, which needs Pillow.

    Parameters
    ----------
    data_dir : str or Path, optional
        The folder ``tiny-imagenet-200``, one that holds it or ``tiny-imagenet-200.zip``, or the
        archive itself. By default, the folder ``downloads`` in the cache.
    download : bool, default=False
        Whether to download the archive (248 MB) into data_dir if the data is not there.
    progress : callable, optional
        Called with the number of bytes downloaded so far and the total number.

    Returns
    -------
    ImageData

    Raises
    ------
    FileNotFoundError
        If the data is not found.
    ValueError
        If the files are damaged.
    """
    return _load(Counts(), data_dir, download, progress)


def _load(
    counts: Counts,
    data_dir: str | Path | None,
    download: bool = False,
    progress: Progress | None = None,
) -> ImageData:
    where = data_folder(data_dir)
    choices = (where, where / FOLDER, where / SOURCE.file_name)
    source = next((path for path in choices if _holds_data(path)), None)
    if source is None and download:
        url, size, digest = SOURCE
        source = fetch(url, where / SOURCE.file_name, size, digest, progress)
    if source is None:
        raise not_found(
            "Tiny ImageNet",
            where,
            f"wnids.txt, the folder {FOLDER} and {SOURCE.file_name}",
            f"download it from {SOURCE.url} with download=True",
        )
    sources = [source]
    if source.is_dir():
        sources += [source / "wnids.txt", *sorted(source.glob("train/*/images"))]
        sources += sorted(source.glob("val/*"))
    folder = converted("tiny-imagenet", sources, lambda to: _convert(counts, source, to))
    return ImageFiles(folder).load("Tiny ImageNet")


def _holds_data(path: Path) -> bool:
    return path.is_file() or (path / "wnids.txt").is_file()


@contextmanager
def _opened(source: Path) -> Iterator[tuple[list[str], ReadFile]]:
    """Yield the names of all files and a function that reads one, without unpacking the archive."""
    if source.is_dir():
        paths = source.rglob("*")
        names = [path.relative_to(source).as_posix() for path in paths if path.is_file()]
        yield sorted(names), lambda name: (source / name).read_bytes()
        return
    try:
        with zipfile.ZipFile(source) as archive:
            prefix = f"{FOLDER}/"
            inside = [name for name in archive.namelist() if name.startswith(prefix)]
            names = [name.removeprefix(prefix) for name in inside if not name.endswith("/")]
            yield sorted(names), lambda name: archive.read(prefix + name)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{source} cannot be read as an archive: {error}") from error


def _convert(counts: Counts, source: Path, to: Path) -> None:
    files = ImageFiles(to)
    with _opened(source) as (names, read):
        known = set(names)
        missing = {"wnids.txt", "words.txt", "val/val_annotations.txt"} - known
        if missing:
            raise FileNotFoundError(f"{source} lacks {', '.join(sorted(missing))}")
        classes = sorted(read("wnids.txt").decode().split())
        _check_count(source, "classes in wnids.txt", counts.classes, len(classes))
        samples = {
            "train": _train_samples(source, counts, names, classes),
            "test": _test_samples(source, counts, read, known, classes),
        }
        for part in PARTS:
            images = files.images(part, (len(samples[part]), 3, SIDE, SIDE))
            for row, (name, _) in enumerate(samples[part]):
                images[row] = _decode(read(name), source, name)
            files.write_labels(part, np.array([label for _, label in samples[part]]))
        lines = read("words.txt").decode().splitlines()
    words = dict(line.split("\t", 1) for line in lines if "\t" in line)
    files.write_names([words.get(wnid, wnid).strip() for wnid in classes])


def _train_samples(
    source: Path, counts: Counts, names: list[str], classes: list[str]
) -> list[tuple[str, int]]:
    label = {wnid: number for number, wnid in enumerate(classes)}
    samples = []
    for name in names:
        parts = name.split("/")
        if len(parts) == 4 and parts[0] == "train" and parts[2] == "images" and parts[1] in label:
            samples.append((name, label[parts[1]]))
    images = np.bincount([number for _, number in samples], minlength=len(classes))
    for wnid, count in zip(classes, images.tolist(), strict=True):
        _check_count(source, f"images in train/{wnid}/images", counts.train_images, count)
    return samples


def _test_samples(
    source: Path, counts: Counts, read: ReadFile, known: set[str], classes: list[str]
) -> list[tuple[str, int]]:
    label = {wnid: number for number, wnid in enumerate(classes)}
    samples = []
    for line in read("val/val_annotations.txt").decode().splitlines():
        image, wnid, *_ = [*line.split("\t"), ""]
        name = f"val/images/{image}"
        if wnid not in label or name not in known:
            raise ValueError(
                f"val_annotations.txt in {source} must name images in val/images and classes in "
                f"wnids.txt; got {line!r}"
            )
        samples.append((name, label[wnid]))
    _check_count(source, "images in val_annotations.txt", counts.test_images, len(samples))
    return samples


def _check_count(source: Path, what: str, expected: int, count: int) -> None:
    if count != expected:
        raise ValueError(f"{source} must hold {expected} {what}; got {count}")


def _decode(content: bytes, source: Path, name: str) -> Array:
    pillow = optional_import(
        "PIL.Image", "decoding Tiny ImageNet needs Pillow: pip install immax[bench]"
    )
    try:
        with pillow.open(BytesIO(content)) as image:
            pixels = np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError) as error:
        raise ValueError(f"{name} in {source} cannot be decoded: {error}") from error
    if pixels.shape != (SIDE, SIDE, 3):
        raise ValueError(f"{name} in {source} must be 64 × 64 pixels; got {pixels.shape[:2]}")
    return pixels.transpose(2, 0, 1)
