"""Parts that are computed once and kept in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from immax.arrays import Array
from immax.distributed.raw_parts import RawPart

__all__ = ["Spool"]


class _Place(NamedTuple):
    """Where the features of a part are in the file, with all else that is known of it."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    labels: Array  # those that appear
    codes: Array  # (n,), which of them; in as few bytes as possible
    weight: Array | None


class Spool:
    """A source of parts whose dense features are computed once, and read from a file after that.

    Labels (as codes) and weights stay in memory; the features take as many bytes on the disk as
    they would take in memory. The file has no name, and is gone with the process.

    Parameters
    ----------
    read : callable
        Returns an iterator over all parts, the same in every call.
    folder : str or Path, optional
        Where the file is; by default in the folder for temporary files.
    """

    def __init__(
        self, read: Callable[[], Iterator[RawPart]], folder: str | Path | None = None
    ) -> None:
        self._read_source, self._folder = read, folder
        self._file: IO[bytes] | None = None
        self._places: list[_Place] | None = None

    def read(self) -> Iterator[RawPart]:
        """Yield all parts.

        Yields
        ------
        RawPart
            Numbered from zero.
        """
        if self._places is None:
            yield from self._write()
            return
        assert self._file is not None
        self._file.seek(0)
        for number, place in enumerate(self._places):
            X = np.empty(place.shape, place.dtype)
            self._file.readinto(X.data)  # type: ignore[attr-defined]
            yield RawPart(number, X, place.labels[place.codes], place.weight)

    def _write(self) -> Iterator[RawPart]:
        with ExitStack() as stack:
            temporary = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
            file: IO[bytes] = stack.enter_context(temporary)
            places = []
            for part in self._read_source():
                X = np.ascontiguousarray(part.X)
                file.write(X.data)
                labels, codes = np.unique(part.y, return_inverse=True)
                codes = codes.ravel().astype(np.min_scalar_type(len(labels)))
                places.append(_Place(X.shape, X.dtype, labels, codes, part.weight))
                yield part
            stack.pop_all()  # a pass that is not finished leaves no file
            self._file, self._places = file, places

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()
        self._file = self._places = None
