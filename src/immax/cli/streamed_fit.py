"""``immax fit`` on Parquet tables that are larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from sklearn.pipeline import Pipeline

from immax.arrays import Array
from immax.cli.aimed_fit import FitSettings, FittedTable, Search, make_search
from immax.cli.progress import quiet_progress
from immax.compare.target import FEWEST_ROWS, check_classes
from immax.distributed.local_copies import copy_fit
from immax.distributed.parquet_files import decoded_bytes, list_parquet_files
from immax.distributed.parted_classifiers import PartedIMMAX
from immax.distributed.row_hashes import uniform_numbers
from immax.distributed.spools import Spool
from immax.distributed.stream_parts import ReadMeter, StreamParts, read_ahead
from immax.errors import WrongCall
from immax.evaluation.environment import available_memory
from immax.linear import IMMAXClassifier
from immax.tabular.streamed_table import StreamedTable, open_streamed
from immax.tabular.table_files import FORMATS

if TYPE_CHECKING:
    from immax.cli.aim_options import AimOptions
    from immax.search.classifier import IMMAXClassifierCV
    from immax.tabular import ReadingOptions

__all__ = ["fit_streamed", "is_parquet", "must_stream"]

MEMORY_FACTOR = 5  # of a table's own size that a fit in memory needs, about


def is_parquet(path: Path) -> bool:
    """Return whether a table is a Parquet file by its name, or a folder.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    return path.is_dir() or FORMATS.get(path.suffix.lower()) == "parquet"


def must_stream(path: Path) -> bool:
    """Return whether a table is too large to be fitted in memory, and can be streamed.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
        False for tables that are not Parquet files.
    """
    available = available_memory()
    if not is_parquet(path) or not path.exists() or available is None:
        return False
    try:
        return MEMORY_FACTOR * decoded_bytes(list_parquet_files(path)) > available
    except (OSError, ValueError):
        return False  # the reader will say what is wrong


def fit_streamed(
    path: Path,
    target: str,
    reading: ReadingOptions,
    options: AimOptions,
    settings: FitSettings,
    search_rows: int,
) -> FittedTable:
    """Search on a sample of the rows, and fit the choice to all of them, batch by batch.

    Parameters
    ----------
    path : Path
        A Parquet file or folder.
    target : str
    reading : ReadingOptions
    options : AimOptions
    settings : FitSettings
    search_rows : int
        The rows of the search, about.

    Returns
    -------
    FittedTable

    Raises
    ------
    WrongCall
        If the loss or the penalty needs all rows in memory, or the sample lacks a class.
    """
    if settings.loss == "hinge" or settings.penalty != "l2":
        raise WrongCall(
            "a table that is streamed needs --penalty l2, and --loss logistic or exponential; "
            "--no-stream fits in memory"
        )
    table = open_streamed(path, target, reading)
    for notice in table.notices:
        typer.echo(f"immax: {notice}", err=True)
    pipeline, counted = table.fit_pipeline()
    classes = np.array(sorted(counted), dtype=None)
    counts = np.array([counted[label] for label in classes.tolist()])
    check_classes(classes, counts)
    spool = Spool(lambda: table.read_parts(pipeline))
    try:
        X, y = _sample(spool, table, search_rows, settings.seed)
        search = _fit_search(X, y, classes, options, settings, search_rows)
        with quiet_progress(remaining=False) as progress:
            task = progress.add_task("all rows", total=None)

            def show(meter: ReadMeter) -> None:
                progress.update(task, description=f"all rows: {meter}", completed=meter.passes)

            raw = StreamParts(spool.read, meter=ReadMeter(show))
            _refit(search.model, raw)
    finally:
        spool.close()
    steps = [*pipeline.steps, ("model", search.model)]
    return FittedTable(Pipeline(steps), table.schema, counts.astype(np.float64), search)


def _sample(spool: Spool, table: StreamedTable, rows: int, seed: int) -> tuple[Array, Array]:
    """Return features and labels of some rows; the features of all of them are spooled."""
    rate = rows / max(1, table.n_rows)
    begin, samples = 0, []
    for part in read_ahead(spool.read()):
        places = np.arange(begin, begin + len(part.y))
        chosen = np.flatnonzero(uniform_numbers(places, seed) < rate)
        samples.append((part.X[chosen], part.y[chosen]))
        begin += len(part.y)
    return np.concatenate([X for X, _ in samples]), np.concatenate([y for _, y in samples])


def _fit_search(
    X: Array, y: Array, classes: Array, options: AimOptions, settings: FitSettings, rows: int
) -> Search:
    labels, numbers = np.unique(y, return_counts=True)
    if len(labels) < len(classes) or numbers.min() < FEWEST_ROWS:
        raise WrongCall(
            f"a sample of {rows} rows has too few of a class for the search: raise --search-rows"
        )
    search = make_search(settings.loss, options, y, settings.folds, settings.seed)
    search.model.fit(X, y)
    return search


def _refit(search: IMMAXClassifierCV, raw: StreamParts) -> None:
    """Fit the chosen models of a search to all rows."""
    best, probable = search.best_estimator_, search.probability_estimator_
    search.best_estimator_ = _fitted(best, raw)
    same = probable is best
    search.probability_estimator_ = search.best_estimator_ if same else _fitted(probable, raw)
    search.take_fit()


def _fitted(model: Any, raw: StreamParts) -> IMMAXClassifier:
    parted = PartedIMMAX(**model.get_params(deep=False))
    local: IMMAXClassifier = copy_fit(parted._fit_parts(raw), IMMAXClassifier)
    return local
