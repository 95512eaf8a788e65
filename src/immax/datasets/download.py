"""Downloads that can be resumed and are verified."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from immax.validation import check_choice

if TYPE_CHECKING:
    from http.client import HTTPResponse

__all__ = ["Source", "fetch"]

BLOCK = 2**20  # bytes read at once
TIMEOUT = 60  # seconds without data

Progress = Callable[[int, int], None]


class Source(NamedTuple):
    """Where a file comes from, with its size and digest.

    Parameters
    ----------
    url : str
        The address of the file.
    size : int
        Its size in bytes.
    digest : str
        As in "sha256:…" or "md5:…".
    """

    url: str
    size: int
    digest: str

    @property
    def file_name(self) -> str:
        """The last part of the URL's path."""
        return urlsplit(self.url).path.rpartition("/")[2]


def fetch(
    url: str, path: str | Path, size: int, digest: str, progress: Progress | None = None
) -> Path:
    """Download a file unless it is there already, and verify it.

    Data is kept in ``path + ".part"`` until all of it is there and verified. An interrupted
    download is resumed from there, immediately or at the next call.

    Parameters
    ----------
    url : str
        The address of the file.
    path : str or Path
        Where to save it.
    size : int
        Its size in bytes.
    digest : str
        As in "sha256:…" or "md5:…".
    progress : callable, optional
        Called with the number of bytes downloaded so far and the total number.

    Returns
    -------
    Path
        Where the file is.

    Raises
    ------
    ConnectionError
        If the download fails; another call resumes it.
    ValueError
        If the file has the wrong size or digest.
    """
    target = Path(path)
    algorithm, _, expected = digest.rpartition(":")
    check_choice("the algorithm of digest", algorithm, ("sha256", "md5"))
    if target.is_file() and _is_verified(target, size, algorithm, expected):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    if _size(part) > size:
        part.unlink()
    while (done := _size(part)) != size:
        if done > size:
            part.unlink()
            raise ValueError(f"{url} has more than the expected {size} bytes; it was deleted")
        problem = _receive(url, part, size, progress)
        if _size(part) <= done:  # no progress: another attempt would fail too
            raise ConnectionError(
                f"{url} could not be downloaded: {problem}; {_size(part)} of {size} bytes are in "
                f"{part}, and another call resumes from there"
            )
    if not _is_verified(part, size, algorithm, expected):
        part.unlink()
        raise ValueError(f"{url} does not have the {algorithm} {expected}; it was deleted")
    os.replace(part, target)
    return target


def _receive(url: str, part: Path, size: int, progress: Progress | None) -> str:
    """Append to the part what the server sends; return why the connection ended."""
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
        if error.code == 416:  # the file on the server is shorter than the part
            part.unlink()
            return f"the file ends after {done} bytes, which were deleted"
        return f"the server responded with {error.code} {error.reason}"
    except (OSError, HTTPException) as error:
        return str(error) or type(error).__name__
    return "the connection ended"


def _continues(response: HTTPResponse, done: int) -> bool:
    sent = response.headers.get("Content-Range", "").removeprefix("bytes ")
    return bool(response.status == 206 and sent.startswith(f"{done}-"))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _is_verified(path: Path, size: int, algorithm: str, expected: str) -> bool:
    if _size(path) != size:
        return False
    with path.open("rb") as file:
        computed = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return computed.hexdigest() == expected.lower()
