"""Atomic writing of files: a reader sees the old contents or the new, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["check_writable", "replacing", "write_text"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, and rename it to ``path`` at the end.

    If the body of the ``with`` statement fails, the temporary file is removed and ``path`` stays
    as it was.

    Parameters
    ----------
    path : Path
        The file to write. Missing parent folders are created.

    Yields
    ------
    Path
        Where to write.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise an error if a file cannot be written, before the work that its contents need.

    Parameters
    ----------
    path : Path
        The file to write later. Missing parent folders are created.

    Raises
    ------
    OSError
        If it is a folder, or nothing can be written next to it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_writable(Path(folder, "model.skops"))
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file to write")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.touch()
        part.unlink()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OSError(error.errno, f"{path} cannot be written: {reason}") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8.

    Parameters
    ----------
    path : Path
        The file to write. Missing parent folders are created.
    text : str
        Its contents.
    """
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
