"""Features and labels from Parquet files of numbers, in record batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from immax.arrays import Array
from immax.distributed.parquet_files import (
    NEEDS_PYARROW,
    check_column_names,
    data_columns,
    find_clashes,
    folder_values,
    list_parquet_files,
)
from immax.distributed.raw_parts import RawPart, read_part
from immax.errors import WrongCall
from immax.optional import optional_import
from immax.validation import nearest

if TYPE_CHECKING:
    from pyarrow import Schema

__all__ = ["ParquetBatches", "open_batches"]

BATCH_BYTES = 2**25  # of the features of a batch


@dataclass(frozen=True)
class ParquetBatches:
    """Parquet files whose columns are numbers, but for that of the labels.

    Attributes
    ----------
    files : tuple of Path
        The files.
    features : tuple of str
        The columns of the features.
    target : str
        The column of the labels.
    weight : str or None
        The column of the sample weights.
    single : bool
        Whether all features are in single precision.
    added : mapping of Path to mapping of str to object
        The values of the columns that the folders of each file add, by name.
    """

    files: tuple[Path, ...]
    features: tuple[str, ...]
    target: str
    weight: str | None
    single: bool
    added: Mapping[Path, Mapping[str, Any]] = field(default_factory=dict)

    def read(self) -> Iterator[RawPart]:
        """Yield all batches in order.

        Yields
        ------
        RawPart
            Numbered from zero.

        Raises
        ------
        ValueError
            If a file cannot be read, or holds missing values; the message names it.
        """
        arrow = optional_import("pyarrow", NEEDS_PYARROW)
        parquet = optional_import("pyarrow.parquet", NEEDS_PYARROW)
        weights = () if self.weight is None else (self.weight,)
        wanted = [*self.features, self.target, *weights]
        rows = max(1024, BATCH_BYTES // (8 * len(self.features)))
        number = 0
        for file in self.files:
            added = self.added.get(file, {})
            own = [name for name in wanted if name not in added]
            try:
                with parquet.ParquetFile(file, pre_buffer=False) as source:
                    for batch in source.iter_batches(batch_size=rows, columns=own):
                        yield self._part(number, batch, added)
                        number += 1
            except (arrow.ArrowException, OSError) as error:
                text = (str(error).strip() or repr(error)).splitlines()[0]
                raise ValueError(f"{file} cannot be read as Parquet: {text}") from error
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from error

    def _part(self, number: int, batch: Any, added: Mapping[str, Any]) -> RawPart:
        X: Array = np.empty(
            (batch.num_rows, len(self.features)), np.float32 if self.single else np.float64
        )
        for place, name in enumerate(self.features):
            X[:, place] = added[name] if name in added else self._numbers(batch, name)
        if self.target in added:
            y = np.full(batch.num_rows, added[self.target])
        else:
            y = batch.column(self.target).to_numpy(zero_copy_only=False)
        weight = None
        if self.weight is not None:
            weight = (
                np.full(batch.num_rows, float(added[self.weight]))
                if self.weight in added
                else self._numbers(batch, self.weight)
            )
        return read_part(number, X, y, weight)

    def _numbers(self, batch: Any, name: str) -> Array:
        column = batch.column(name)
        if column.null_count:
            raise ValueError(
                f"the column {name!r} has missing values: fill them, or use "
                "IMMAXClassifier().fit(path, target), which does"
            )
        return np.asarray(column.to_numpy(zero_copy_only=False))


def open_batches(path: str | Path, target: str, sample_weight: str | None = None) -> ParquetBatches:
    """Open a Parquet file or a folder of them, and check the types of its columns.

    Parameters
    ----------
    path : str or Path
        The file or folder.
    target : str
        The column of the labels.
    sample_weight : str, optional
        The column of the sample weights; all others are features.

    Returns
    -------
    ParquetBatches

    Raises
    ------
    WrongCall
        If a column is missing, is not a column of numbers, or is named twice.
    TypeError
        If a column is not given by its name.
    """
    check_column_names(path, target, sample_weight)
    files = list_parquet_files(path)
    schemas = _read_schemas(files)
    folder = Path(path)
    texts = {file: folder_values(file, folder) for file in files} if folder.is_dir() else {}
    added = _read_folder_values(texts, schemas, target)
    names = _common_names(schemas, added)
    for name in (target, *(() if sample_weight is None else (sample_weight,))):
        if name not in names:
            raise WrongCall(f"{path} has no column {name!r}{nearest(name, names)}")
    features = tuple(name for name in names if name not in (target, sample_weight))
    if not features:
        raise WrongCall(f"{path} has no columns other than {target!r}")
    for name, holds in find_clashes(schemas).items():
        raise WrongCall(f"the column {name!r} {holds}: write it with one type")
    types = optional_import("pyarrow", NEEDS_PYARROW).types
    single = True
    for file, schema in schemas.items():
        for name in features:
            if name in added.get(file, {}):
                single = False
                continue
            kind = schema.field(name).type
            if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
                raise WrongCall(
                    f"the column {name!r} of {file} holds {kind}, not numbers: "
                    "IMMAXClassifier().fit(path, target) prepares categories and dates"
                )
            single = single and types.is_float32(kind)
    return ParquetBatches(tuple(files), features, target, sample_weight, single, added)


def _read_schemas(files: Sequence[Path]) -> dict[Path, Schema]:
    arrow = optional_import("pyarrow", NEEDS_PYARROW)
    parquet = optional_import("pyarrow.parquet", NEEDS_PYARROW)
    schemas = {}
    for file in files:
        try:
            schemas[file] = parquet.read_schema(file)
        except (arrow.ArrowException, OSError) as error:
            text = (str(error).strip() or repr(error)).splitlines()[0]
            raise ValueError(f"{file} cannot be read as Parquet: {text}") from error
    return schemas


def _common_names(
    schemas: Mapping[Path, Schema], added: Mapping[Path, Mapping[str, Any]]
) -> list[str]:
    """Return the columns of all files, with those that their folders add."""
    names: list[str] = []
    first = next(iter(schemas))
    for file, schema in schemas.items():
        own = [*data_columns(schema.names).values(), *added.get(file, {})]
        names = names or own
        if sorted(own) != sorted(names):
            raise WrongCall(f"{file} and {first} have different columns")
    return names


def _read_folder_values(
    texts: Mapping[Path, Mapping[str, str | None]], schemas: Mapping[Path, Schema], target: str
) -> dict[Path, dict[str, Any]]:
    """Return the values of folders such as ``year=2020``: numbers, but labels may be strings."""
    values: dict[str, set[str | None]] = {}
    for file, own in texts.items():
        for name, text in own.items():
            if name in schemas[file].names:
                raise WrongCall(
                    f"the column {name!r} is in {file}, and in the name of its folder: remove it "
                    "from one of them"
                )
            values.setdefault(name, set()).add(text)
    read = {name: _read_values(texts) for name, texts in values.items()}
    for name, by_text in read.items():
        bad = [text for text, value in by_text.items() if not isinstance(value, int | float)]
        if None in by_text or (bad and name != target):
            shown = "a missing value" if None in by_text else repr(bad[0])
            raise WrongCall(
                f"the folders {name}=… hold {shown}, not numbers: "
                "IMMAXClassifier().fit(path, target) prepares categories and missing values"
            )
    return {
        file: {name: read[name][text] for name, text in own.items()} for file, own in texts.items()
    }


def _read_values(texts: set[str | None]) -> dict[str | None, Any]:
    """Return all values as integers, else all as floats, else as they are."""
    for convert in (int, float):
        try:
            return {text: text if text is None else convert(text) for text in texts}
        except ValueError:
            continue
    return {text: text for text in texts}
