"""A table in a file, read in parts as it is: no cell is given a meaning here."""

from __future__ import annotations

import csv
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from immax.optional import optional_import
from immax.tabular.cells import Cells, MixedCells, as_cells
from immax.tabular.number_formats import NEEDS_ARROW

if TYPE_CHECKING:
    from pyarrow import RecordBatch

__all__ = ["Opener", "TableFile", "batch_cells", "join_cells", "named_errors", "unique_names"]

Opener: TypeAlias = Callable[..., IO[Any]]
Parts: TypeAlias = Iterator[tuple[int, dict[str, Cells]]]
ROWS = 100_000  # rows that are read at a time where the whole table is wanted


@dataclass(frozen=True)
class TableFile:
    """A table in a file, or in a folder of Parquet files.

    Attributes
    ----------
    path : Path
    form : str
        The format in words.
    names : tuple of str
        The columns; names that appear twice are numbered.
    repeated : tuple of str
        The names that appear twice.
    declared : bool
        Whether the file says of strings that they are strings; CSV files do not.
    clashes : mapping of str to str
        By column, what it holds in different files of a folder, if it is not of one kind.
    """

    path: Path
    form: str
    names: tuple[str, ...]
    repeated: tuple[str, ...]
    declared: bool
    _read: Callable[[int], Parts]
    clashes: Mapping[str, str] = field(default_factory=dict)

    def chunks(self, rows: int) -> Parts:
        """Read the table in parts.

        Parameters
        ----------
        rows : int
            The largest number of rows of a part.

        Yields
        ------
        n_rows : int
        cells : dict of str to cells
            All columns, in the order of ``names``.
        """
        with named_errors(self.path, self.form):
            yield from self._read(rows)

    def cells(self) -> dict[str, Cells]:
        """Read the whole table.

        Returns
        -------
        dict of str to cells
        """
        parts = [cells for _, cells in self.chunks(ROWS)]
        return {name: join_cells([part[name] for part in parts], name) for name in self.names}


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Add numbers to names that appear more than once: a, a.1, a.2.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    unique : tuple of str
    repeated : tuple of str
        The names that appear more than once.

    Examples
    --------
    >>> unique_names(["a", "b", "a"])
    (('a', 'b', 'a.1'), ('a',))
    """
    unique: list[str] = []
    taken = set(names)
    repeated: dict[str, None] = {}
    for name in names:
        new, number = name, 0
        if name in unique:
            repeated[name] = None
            while new in taken or new in unique:
                number += 1
                new = f"{name}.{number}"
        unique.append(new)
    return tuple(unique), tuple(repeated)


@contextmanager
def named_errors(file: Path, form: str) -> Iterator[None]:
    """Turn the errors of readers and of decompression into ones that name the file.

    Parameters
    ----------
    file : Path
    form : str
        The format in words.

    Yields
    ------
    None

    Raises
    ------
    ValueError
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be text in UTF-8: {error}") from error
    except FileNotFoundError:
        raise
    except (
        arrow.ArrowException,
        csv.Error,
        EOFError,
        OSError,
        lzma.LZMAError,
        zlib.error,
    ) as error:
        text = (str(error).strip() or repr(error)).splitlines()[0]
        if "invalid UTF8" in text:
            raise ValueError(f"{file} must be text in UTF-8: {text}") from error
        raise ValueError(f"{file} cannot be read as {form}: {text}") from error


def batch_cells(batch: RecordBatch, names: Sequence[str]) -> tuple[int, dict[str, Cells]]:
    """Return the columns of a record batch by their names.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
    names : sequence of str

    Returns
    -------
    n_rows : int
    cells : dict of str to cells
    """
    return batch.num_rows, dict(zip(names, batch.columns, strict=True))


def join_cells(parts: Sequence[Cells], name: str) -> Cells:
    """Return the cells of all parts of a column.

    Parameters
    ----------
    parts : sequence of cells
    name : str
        The name of the column.

    Returns
    -------
    cells
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    if not parts:
        return arrow.nulls(0)
    if not any(isinstance(part, MixedCells) for part in parts):
        tables = [arrow.table({name: part}) for part in parts]
        try:
            return arrow.concat_tables(tables, promote_options="permissive").column(0)
        except arrow.ArrowException:
            pass  # numbers in one part, and strings in another
    return as_cells([value for part in parts for value in _objects(part)])


def _objects(part: Cells) -> list[object]:
    if not isinstance(part, MixedCells):
        return list(part.to_pylist())
    pairs = zip(part.strings.to_pylist(), part.others.to_pylist(), strict=True)
    return [other if text is None else text for text, other in pairs]
