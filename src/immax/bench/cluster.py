"""Run the cells of a plan on the workers of a Dask cluster, with one store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from immax.bench.execution import RunOptions
from immax.bench.run import run_cells
from immax.bench.store import Store
from immax.errors import WrongCall
from immax.optional import optional_import

__all__ = ["run_on_cluster"]

NEEDS_DASK = '--dask needs Dask: pip install "immax[distributed]"'
CONNECT = 15.0  # seconds to wait for a scheduler


def run_on_cluster(
    store: Store,
    scheduler: str,
    options: RunOptions | None = None,
    *,
    limit: int | None = None,
    retry_failed: bool = False,
) -> int:
    """Claim and run cells on all workers of a cluster until there are none left.

    Every thread of a worker claims cells from the store, as other processes do, so the file must
    be where all workers can write it. The cell of a worker that is lost is run by another one.

    Parameters
    ----------
    store : Store
        The store.
    scheduler : str
        The address of the scheduler, such as ``tcp://10.0.0.1:8786``.
    options : RunOptions, optional
        The directory of the data, and the device.
    limit : int, optional
        The largest number of cells to run.
    retry_failed : bool, default=False
        Whether to run failed cells again.

    Returns
    -------
    int
        The number of cells that failed.

    Raises
    ------
    WrongCall
        If no scheduler answers, or it has no workers.
    """
    distributed = optional_import("distributed", NEEDS_DASK)
    from immax.distributed.clusters import wait_for

    if retry_failed:
        store.retry_failed()
    try:
        client = distributed.Client(scheduler, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WrongCall(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
    with client:
        threads = client.nthreads()  # scheduler_info() of some versions lists five
        if not threads:
            raise WrongCall(f"the Dask scheduler at {scheduler!r} has no workers")
        shares = _shares(limit, sum(threads.values()))
        places = [address for address, number in threads.items() for _ in range(number)]
        futures = [
            client.submit(
                _run_here,
                str(store.path.resolve()),
                options or RunOptions(),
                share,
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            for address, share in zip(places, shares, strict=False)
        ]
        return sum(wait_for(client, futures))


def _shares(limit: int | None, tasks: int) -> list[int | None]:
    """Return the largest number of cells of each task; tasks without any are left out."""
    if limit is None:
        return [None] * tasks
    shares: list[Any] = [limit // tasks + (number < limit % tasks) for number in range(tasks)]
    return [share for share in shares if share]


def _run_here(path: str, options: RunOptions, limit: int | None) -> int:
    """Claim and run cells, on a worker."""
    if not Path(path).exists():
        raise WrongCall(
            f"a worker finds no store {path}: the file must be in a folder that all machines share"
        )
    store = Store(Path(path))
    try:
        return run_cells(store, options, limit=limit)
    finally:
        store.close()
