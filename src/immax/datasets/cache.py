"""A cache on disk for data sets that are converted once and then mapped into memory."""

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

LAYOUT = 1  # version of the files; converted data of other versions is not used
ABANDONED = 24 * 3600  # seconds after which an unfinished conversion is deleted


def cache_dir() -> Path:
    """Return the folder of converted and downloaded data.

    It is the value of the environment variable ``IMMAX_CACHE``, or the folder ``immax`` in the
    user's cache.

    Returns
    -------
    Path
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
    """Return the folder of converted data, converting the sources if they are new or changed.

    The folder is written atomically: under a temporary name, then renamed.

    Parameters
    ----------
    name : str
        The name of the data set.
    sources : iterable of Path
        Files and folders, identified by their paths, sizes and modification times.
    convert : callable
        Called with a folder, into which it writes the converted data.

    Returns
    -------
    Path
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
            if not folder.is_dir():  # otherwise another process has finished first
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
