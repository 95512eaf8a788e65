"""Atomic writing of files: a reader sees the old contents or the new, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing", "write_text"]


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
