"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["beside", "write_text"]


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A path to write to, renamed to the given one at the end; nothing is left if that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """All of it, or nothing."""
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")
