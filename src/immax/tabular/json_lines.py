"""JSON lines as tables: one object on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from immax.tabular.cells import as_cells
from immax.tabular.table_file import Opener, Parts, TableFile

__all__ = ["open_json_lines"]


def open_json_lines(file: Path, opener: Opener, expected: set[str]) -> TableFile:
    """Open JSON lines; a key that an object lacks is a missing value.

    Parameters
    ----------
    file : Path
    opener : callable
        Opens the file, and perhaps decompresses it.
    expected : set of str
        Columns that should be there. The lines are read until all of them have been found, and to
        the end if there are none.

    Returns
    -------
    TableFile

    Raises
    ------
    ValueError
        If a line is not an object.
    """
    keys: dict[str, None] = {}
    for record in _records(file, opener):
        keys.update(dict.fromkeys(record))
        if expected and expected <= keys.keys():
            break
    names = tuple(keys)

    def read(rows: int) -> Parts:
        records = _records(file, opener)
        while part := list(islice(records, rows)):
            columns = {name: as_cells([record.get(name) for record in part]) for name in names}
            yield len(part), columns

    if not names:
        raise ValueError(f"{file} is empty")
    return TableFile(file, "JSON lines", names, (), True, read)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"an object has the key {double!r} more than once")
    return record


def _records(file: Path, opener: Opener) -> Iterator[dict[str, object]]:
    with opener(file, "rt", encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line, object_pairs_hook=_object)
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"{file} cannot be read as JSON lines: line {number}: {error}"
                ) from error
            if not isinstance(record, dict):
                raise ValueError(
                    f"{file} cannot be read as JSON lines: every line must be an object; line "
                    f"{number} is not"
                )
            yield record
