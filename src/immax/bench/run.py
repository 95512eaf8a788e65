"""Run the cells of a plan, one after the other."""

from __future__ import annotations

import errno
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from immax.bench.cells import Cell
from immax.bench.execution import RunOptions, run_cell
from immax.bench.provenance import describe_commit, today
from immax.bench.store import Store
from immax.evaluation.environment import describe_environment, peak_memory

__all__ = ["run_cells"]

HEARTBEAT = 15.0  # seconds


def run_cells(
    store: Store,
    options: RunOptions | None = None,
    *,
    limit: int | None = None,
    retry_failed: bool = False,
    on_cell: Callable[[Cell, str], None] | None = None,
    on_epoch: Callable[[Cell, int, Mapping[str, float]], None] | None = None,
) -> int:
    """Claim and run cells until there are none left.

    Parameters
    ----------
    store : Store
    options : RunOptions, optional
        The directory of the data, and the device.
    limit : int, optional
        The largest number of cells to run.
    retry_failed : bool, default=False
        Whether to run failed cells again.
    on_cell : callable, optional
        Called with a cell and "begun", "done" or "failed".
    on_epoch : callable, optional
        Called with a cell, the number of an epoch that has ended, and its loss and accuracy.

    Returns
    -------
    int
        The number of cells that failed.
    """
    failures = finished = 0
    if retry_failed:
        store.retry_failed()
    while limit is None or finished < limit:
        cell = store.claim()
        if cell is None:
            if not store.counts()["running"]:
                break
            time.sleep(1)  # cells may be waiting for trials that another process runs
            continue
        if on_cell is not None:
            on_cell(cell, "begun")
        state = _run_and_store(store, cell, options or RunOptions(), on_epoch)
        failures += state == "failed"
        finished += 1
        if on_cell is not None:
            on_cell(cell, state)
    if finished > failures:
        store.stamp(describe_commit(), today())
    return failures


def _run_and_store(
    store: Store,
    cell: Cell,
    options: RunOptions,
    on_epoch: Callable[[Cell, int, Mapping[str, float]], None] | None,
) -> str:
    start = time.perf_counter()

    def note_epoch(number: int, point: Mapping[str, float]) -> None:
        store.add_epoch(cell, number, point)
        if on_epoch is not None:
            on_epoch(cell, number, point)

    try:
        with _heartbeats(store.path, cell):
            result = run_cell(cell, store, options, note_epoch)
        seconds = time.perf_counter() - start
        store.finish(cell, result, seconds, peak_memory(), describe_environment())
    except OSError as error:
        store.release(cell)
        if error.errno == errno.ENOSPC:
            raise OSError(
                error.errno, f"the disk is full; finished cells are kept in {store.path}"
            ) from error
        raise
    except Exception:
        store.fail(cell, traceback.format_exc())
        return "failed"
    except BaseException:
        store.release(cell)
        raise
    return "done"


@contextmanager
def _heartbeats(path: Path, cell: Cell) -> Iterator[None]:
    """Record at intervals, from a thread, that the worker of a cell is alive."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT):
            store = Store(path)
            store.heartbeat(cell)
            store.close()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
