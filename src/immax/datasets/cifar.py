"""CIFAR-10 and CIFAR-100, from the binary version of the data.

A record is a label of one byte (in CIFAR-100, a coarse and a fine one) and the 3072 bytes of an
image, channel by channel.
"""

from __future__ import annotations

import lzma
import math
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from immax.datasets.cache import converted
from immax.datasets.download import Progress, Source, fetch
from immax.datasets.images import PARTS, ImageData, ImageFiles, Part, data_folder, not_found

__all__ = ["load_cifar10", "load_cifar100"]

IMAGE = (3, 32, 32)
ARCHIVES = (".tar.gz", ".tgz", ".tar.xz")
MAX_NAME_BYTES = 2**16


@dataclass(frozen=True)
class Layout:
    """Names and contents of the files of a data set."""

    name: str
    folder: str
    archive: str  # prefix of the name
    train: tuple[str, ...]
    test: str
    names: str
    train_records: int  # of each file
    test_records: int
    label_bytes: int
    n_classes: int
    source: Source

    @property
    def record_bytes(self) -> int:
        """Number of bytes of a record: labels and pixels."""
        return self.label_bytes + math.prod(IMAGE)

    @property
    def batches(self) -> tuple[str, ...]:
        """Names of the files that hold images."""
        return (*self.train, self.test)

    def place(self, file: str) -> tuple[Part, slice]:
        """Return the part and the rows that the images of a file belong to."""
        if file == self.test:
            return "test", slice(self.test_records)
        begin = self.train.index(file) * self.train_records
        return "train", slice(begin, begin + self.train_records)

    def check_size(self, file: str, size: int, source: Path) -> None:
        """Raise ValueError if a file does not have the expected size."""
        if file == self.names:
            if size > MAX_NAME_BYTES:
                raise ValueError(f"{file} in {source} must hold the class names; got {size} bytes")
            return
        records = self.test_records if file == self.test else self.train_records
        expected = records * self.record_bytes
        if size != expected:
            raise ValueError(
                f"{file} in {source} must hold {records} records of {self.record_bytes} bytes, "
                f"{expected} in all; got {size}"
            )


CIFAR10 = Layout(
    name="CIFAR-10",
    folder="cifar-10-batches-bin",
    archive="cifar-10-b",
    train=tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
    test="test_batch.bin",
    names="batches.meta.txt",
    train_records=10_000,
    test_records=10_000,
    label_bytes=1,
    n_classes=10,
    source=Source(
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        170052171,
        "md5:c32a1d4ab5d03f1284b67883e8d87530",
    ),
)
CIFAR100 = Layout(
    name="CIFAR-100",
    folder="cifar-100-binary",
    archive="cifar-100-b",
    train=("train.bin",),
    test="test.bin",
    names="fine_label_names.txt",
    train_records=50_000,
    test_records=10_000,
    label_bytes=2,
    n_classes=100,
    source=Source(
        "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
        168513733,
        "md5:03b5dce01913d631647c71ecec9e9cb8",
    ),
)


def load_cifar10(
    data_dir: str | Path | None = None,
    *,
    download: bool = False,
    progress: Progress | None = None,
) -> ImageData:
    """Load CIFAR-10: 50,000 training and 10,000 test images of ten classes.

    Parameters
    ----------
    data_dir : str or Path, optional
        The folder of the ``.bin`` files, one that holds the folder ``cifar-10-batches-bin`` or an
        archive ``cifar-10-b*.tar.gz`` or ``.tar.xz``, or the archive itself. By default, the
        folder ``downloads`` in the cache.
    download : bool, default=False
        Whether to download the archive (170 MB) into data_dir if the data is not there.
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
    return _load(CIFAR10, data_dir, download, progress)


def load_cifar100(
    data_dir: str | Path | None = None,
    *,
    download: bool = False,
    progress: Progress | None = None,
) -> ImageData:
    """Load CIFAR-100 by its fine labels: 50,000 training and 10,000 test images of 100 classes.

    Parameters
    ----------
    data_dir : str or Path, optional
        The folder of the ``.bin`` files, one that holds the folder ``cifar-100-binary`` or an
        archive ``cifar-100-b*.tar.gz`` or ``.tar.xz``, or the archive itself. By default, the
        folder ``downloads`` in the cache.
    download : bool, default=False
        Whether to download the archive (169 MB) into data_dir if the data is not there.
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
    return _load(CIFAR100, data_dir, download, progress)


def _load(
    layout: Layout,
    data_dir: str | Path | None,
    download: bool = False,
    progress: Progress | None = None,
) -> ImageData:
    where = data_folder(data_dir)
    source = _find(layout, where)
    if source is None and download:
        url, size, digest = layout.source
        source = fetch(url, where / layout.source.file_name, size, digest, progress)
    if source is None:
        raise not_found(
            layout.name,
            where,
            f"{layout.batches[0]}, the folder {layout.folder} and an archive "
            f"{layout.archive}*.tar.gz or .tar.xz",
            f"download it from {layout.source.url} with download=True",
        )
    parts = [source] if source.is_file() else [source / file for file in _present(layout, source)]
    folder = converted(layout.name.lower(), parts, lambda to: _convert(layout, source, to))
    return ImageFiles(folder).load(layout.name)


def _find(layout: Layout, where: Path) -> Path | None:
    """Return the folder of the files, or the archive."""
    if where.is_file():
        return where
    for folder in (where, where / layout.folder):
        if _present(layout, folder):
            return folder
    archives = sorted(path for path in where.glob(f"{layout.archive}*") if path.is_file())
    return next((path for path in archives if path.name.endswith(ARCHIVES)), None)


def _present(layout: Layout, folder: Path) -> list[str]:
    data = [file for file in layout.batches if (folder / file).is_file()]
    return [*data, layout.names] if data and (folder / layout.names).is_file() else data


def _convert(layout: Layout, source: Path, to: Path) -> None:
    files = ImageFiles(to)
    sizes = {"train": len(layout.train) * layout.train_records, "test": layout.test_records}
    images = {part: files.images(part, (sizes[part], *IMAGE)) for part in PARTS}
    labels = {part: np.empty(sizes[part], np.uint8) for part in PARTS}
    names = [str(number) for number in range(layout.n_classes)]
    missing = list(layout.batches)
    for file, content in _contents(layout, source):
        if file == layout.names:
            names = content.decode().split()
            continue
        if file not in missing:
            raise ValueError(f"{source} holds {file} twice")
        missing.remove(file)
        part, rows = layout.place(file)
        records = np.frombuffer(content, np.uint8).reshape(-1, layout.record_bytes)
        images[part][rows] = records[:, layout.label_bytes :].reshape(-1, *IMAGE)
        labels[part][rows] = records[:, layout.label_bytes - 1]
        if labels[part][rows].max() >= layout.n_classes:
            raise ValueError(
                f"the labels of {file} in {source} must lie in 0 to {layout.n_classes - 1}; "
                f"got {labels[part][rows].max()}"
            )
    if missing:
        raise FileNotFoundError(
            f"{source} lacks {', '.join(missing)} of the binary version of {layout.name}"
        )
    if len(names) != layout.n_classes:
        raise ValueError(
            f"{layout.names} in {source} must hold {layout.n_classes} names; got {len(names)}"
        )
    for part in PARTS:
        files.write_labels(part, labels[part])
    files.write_names(names)


def _contents(layout: Layout, source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the known files and their contents, without unpacking the archive to disk."""
    if source.is_dir():
        for file in _present(layout, source):
            layout.check_size(file, (source / file).stat().st_size, source)
            yield file, (source / file).read_bytes()
        return
    known = (*layout.batches, layout.names)
    try:
        with tarfile.open(source, "r|*") as archive:
            for member in archive:
                *folder, file = PurePosixPath(member.name).parts or ("",)
                if member.isfile() and file in known and folder in ([], [layout.folder]):
                    layout.check_size(file, member.size, source)
                    stream = archive.extractfile(member)
                    yield file, stream.read() if stream else b""
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{source} cannot be read as an archive: {error}") from error
