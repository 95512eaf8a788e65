"""Fetch a file, whole and unaltered."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from immax.validation import check_choice

__all__ = ["Source", "fetch"]

BLOCK = 2**20
TIMEOUT = 60  # seconds without a byte

Progress = Callable[[int, int], None]


class Source(NamedTuple):
    """Where a file comes from, and what shows that it is the right one."""

    url: str
    size: int
    digest: str

    @property
    def file_name(self) -> str:
        """The last part of the address."""
        return urlsplit(self.url).path.rpartition("/")[2]


def fetch(
    url: str, path: str | Path, size: int, digest: str, progress: Progress | None = None
) -> Path:
    """Download a file, unless it is there already.

    What has come is kept in ``path + ".part"`` until all of it is there and found right. A
    download that was cut short goes on from there, now or at the next call.

    Parameters
    ----------
    url : str
    path : str or Path
    size : int
        In bytes.
    digest : str
        As in "sha256:…" or "md5:…".
    progress : callable, optional
        Called with the number of bytes that are there and that there will be.

    Returns
    -------
    Path
        The path.
    """
    target = Path(path)
    algorithm, _, expected = digest.rpartition(":")
    check_choice("the algorithm of digest", algorithm, ("sha256", "md5"))
    if target.is_file() and _is_right(target, size, algorithm, expected):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    if _size(part) > size:
        part.unlink()
    while (done := _size(part)) != size:
        if done > size:
            part.unlink()
            raise ValueError(f"{url} should be {size} bytes and is more; it was not kept")
        problem = _receive(url, part, size, progress)
        if _size(part) <= done:  # nothing came: asking again is of no use
            raise ConnectionError(
                f"{url} could not be fetched: {problem}; {_size(part)} of {size} bytes are in "
                f"{part}, and another call goes on from there"
            )
    if not _is_right(part, size, algorithm, expected):
        part.unlink()
        raise ValueError(f"{url} does not have the {algorithm} {expected}; it was deleted")
    os.replace(part, target)
    return target


def _receive(url: str, part: Path, size: int, progress: Progress | None) -> str:
    """Append to the part what comes, up to a little more than the size; why it ended."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    done = _size(part)
    headers = {"Range": f"bytes={done}-"} if done else {}
    try:
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:
            if done and not _continues(response, done):
                done = 0
            with part.open("ab" if done else "wb") as file:
                while done <= size and (block := response.read(BLOCK)):
                    file.write(block)
                    done += len(block)
                    if progress is not None:
                        progress(done, size)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # nothing follows what is there
            part.unlink()
            return f"it ends after {done} bytes, which were deleted"
        return f"the server answers {error.code} {error.reason}"
    except (OSError, HTTPException) as error:
        return str(error) or type(error).__name__
    return "the connection ended"


def _continues(response: Any, done: int) -> bool:
    answered = response.headers.get("Content-Range", "").removeprefix("bytes ")
    return bool(response.status == 206 and answered.startswith(f"{done}-"))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _is_right(path: Path, size: int, algorithm: str, expected: str) -> bool:
    if _size(path) != size:
        return False
    with path.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return found.hexdigest() == expected.lower()
