"""Waiting for a cluster: an answer, or one clear error; never for ever."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

try:
    from distributed import CancelledError, Client, Future, wait
    from distributed import TimeoutError as DaskTimeout
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker
except (ModuleNotFoundError, ImportError) as error:
    raise ImportError('immax.distributed needs Dask: pip install "immax[distributed]"') from error

__all__ = ["ClusterError", "wait_for"]

PATIENCE = 60.0  # seconds without any worker after which a fit gives up
INTERVAL = 5.0  # seconds between two looks at the cluster


class ClusterError(RuntimeError):
    """The cluster was lost during a fit, or its workers were."""


def wait_for(client: Client, futures: list[Future], patience: float | None = None) -> list[Any]:
    """Return the results of futures.

    Parameters
    ----------
    client : distributed.Client
        The client that has submitted them.
    futures : list of distributed.Future
        What to wait for.
    patience : float, optional
        Seconds without any worker after which an error is raised; by default 60.

    Returns
    -------
    list

    Raises
    ------
    ClusterError
        If the scheduler is gone, or all workers are.
    """
    patience = PATIENCE if patience is None else patience
    alone_since: float | None = None
    while True:
        if client.status not in ("running", "connecting"):
            raise ClusterError(_gone(client))
        pending = [future for future in futures if future.status == "pending"]
        if not pending:
            return _results(client, futures)
        if _wait_a_while(client, pending, min(INTERVAL, patience)):
            continue
        if _count_workers(client):
            alone_since = None
            continue
        alone_since = alone_since or time.monotonic()
        if time.monotonic() - alone_since >= patience:
            raise ClusterError(
                f"the cluster has had no worker for {patience:g} seconds: the fit is abandoned"
            )


def _results(client: Client, futures: list[Future]) -> list[Any]:
    try:
        return list(client.gather(futures))
    except (CancelledError, CommClosedError) as error:
        raise ClusterError(_gone(client)) from error
    except KilledWorker as error:
        raise ClusterError(
            f"the computation of a partition has killed its worker repeatedly ({error}); "
            "use smaller partitions, or workers with more memory"
        ) from error


def _wait_a_while(client: Client, futures: list[Future], seconds: float) -> bool:
    """Return whether nothing is pending any more; a question to the scheduler takes longer."""
    with suppress(DaskTimeout, TimeoutError, CancelledError, CommClosedError), client.as_current():
        wait(futures, timeout=seconds)
        return True
    return False


def _count_workers(client: Client) -> int:
    try:
        return len(client.scheduler_info(n_workers=-1)["workers"])
    except TypeError:  # of versions that always report all workers
        return len(client.scheduler_info()["workers"])


def _gone(client: Client) -> str:
    address = getattr(client.scheduler, "address", "?")
    return f"the Dask cluster at {address} is gone, or its client was closed: the fit is abandoned"
