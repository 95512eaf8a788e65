"""Features and labels from Parquet files of numbers, in record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.distributed.parquet_files import NEEDS_PYARROW, data_columns, list_parquet_files
from immax.distributed.raw_parts import RawPart, read_part
from immax.errors import WrongCall
from immax.optional import optional_import
from immax.validation import nearest

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
    """

    files: tuple[Path, ...]
    features: tuple[str, ...]
    target: str
    weight: str | None
    single: bool

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
            try:
                with parquet.ParquetFile(file, pre_buffer=False) as source:
                    for batch in source.iter_batches(batch_size=rows, columns=wanted):
                        yield self._part(number, batch)
                        number += 1
            except (arrow.ArrowException, OSError) as error:
                text = (str(error).strip() or repr(error)).splitlines()[0]
                raise ValueError(f"{file} cannot be read as Parquet: {text}") from error
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from error

    def _part(self, number: int, batch: Any) -> RawPart:
        X: Array = np.empty(
            (batch.num_rows, len(self.features)), np.float32 if self.single else np.float64
        )
        for place, name in enumerate(self.features):
            X[:, place] = self._numbers(batch, name)
        y = batch.column(self.target).to_numpy(zero_copy_only=False)
        weight = None if self.weight is None else self._numbers(batch, self.weight)
        return read_part(number, X, y, weight)

    def _numbers(self, batch: Any, name: str) -> Array:
        column = batch.column(name)
        if column.null_count:
            raise ValueError(
                f"the column {name!r} has missing values: fill them, or use immax fit, which does"
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
        If a column is missing, or is not a column of numbers.
    """
    arrow = optional_import("pyarrow", NEEDS_PYARROW)
    parquet = optional_import("pyarrow.parquet", NEEDS_PYARROW)
    files = list_parquet_files(path)
    schema = None
    for file in files:
        try:
            own = parquet.read_schema(file)
        except (arrow.ArrowException, OSError) as error:
            text = (str(error).strip() or repr(error)).splitlines()[0]
            raise ValueError(f"{file} cannot be read as Parquet: {text}") from error
        schema = schema or own
        names = list(data_columns(schema.names).values())
        if sorted(data_columns(own.names).values()) != sorted(names):
            raise WrongCall(f"{file} and {files[0]} have different columns")
    assert schema is not None
    for name in (target, *(() if sample_weight is None else (sample_weight,))):
        if name not in names:
            raise WrongCall(f"{path} has no column {name!r}{nearest(name, names)}")
    features = tuple(name for name in names if name not in (target, sample_weight))
    if not features:
        raise WrongCall(f"{path} has no columns other than {target!r}")
    types = arrow.types
    for name in features:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise WrongCall(
                f"the column {name!r} of {path} holds {kind}, not numbers: immax fit prepares "
                "tables with categories and dates"
            )
    single = all(types.is_float32(schema.field(name).type) for name in features)
    return ParquetBatches(tuple(files), features, target, sample_weight, single)
