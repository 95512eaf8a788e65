"""Arrays kept on disk, made once and then mapped into memory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

__all__ = ["cache_dir", "converted"]

LAYOUT = 1  # of the files; another number makes them anew
ABANDONED = 24 * 3600  # seconds after which an unfinished conversion is cleared away


def cache_dir() -> Path:
    """Where converted and downloaded data is kept.

    The environment variable ``IMMAX_CACHE``, or the folder immax in the user's cache.
    """
    chosen = os.environ.get("IMMAX_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "immax"


def converted(name: str, sources: Iterable[Path], convert: Callable[[Path], None]) -> Path:
    """The folder of what was made of the sources, made now if they are new or have changed.

    It is written under another name and then renamed, so that it is whole or not there.

    Parameters
    ----------
    name : str
        Of the data set.
    sources : iterable of Path
        Files and folders, known by their paths, sizes and times of change.
    convert : callable
        Writes into the folder that it is given.
    """
    parent = cache_dir() / "converted"
    folder = parent / f"{name}-{_key(sources)}"
    if folder.is_dir():
        return folder
    parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(parent)
    unfinished = parent / f"{folder.name}.{uuid4().hex}.unfinished"
    unfinished.mkdir()
    try:
        convert(unfinished)
        try:
            os.replace(unfinished, folder)
        except OSError:
            if not folder.is_dir():  # else another process was quicker
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _key(sources: Iterable[Path]) -> str:
    parts: list[object] = [LAYOUT]
    for source in sources:
        stat = source.stat()
        parts.append([str(source.resolve()), stat.st_size, stat.st_mtime_ns])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _clear_abandoned(parent: Path) -> None:
    for folder in parent.glob("*.unfinished"):
        with suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > ABANDONED:
                shutil.rmtree(folder, ignore_errors=True)
