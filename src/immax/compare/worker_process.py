"""The other end of ``immax.compare.worker``: a process that fits methods on folds."""

from __future__ import annotations

import pickle
from typing import cast

from immax.compare.fold_fits import FoldData, FoldTask, Outcome
from immax.helper_processes import is_started_ahead, obtain_process, stop_process

__all__ = ["WorkerLostError", "WorkerProcess", "is_worker_waiting"]

WORKER = "immax.compare.worker"


def is_worker_waiting() -> bool:
    """Return whether a process has been started ahead, as the command does.

    Returns
    -------
    bool
    """
    return is_started_ahead(WORKER)


class WorkerLostError(RuntimeError):
    """The process has ended, or was killed, before it gave an outcome."""


class WorkerProcess:
    """A process of its own for fits, with one thread for each library.

    A fresh interpreter takes about as long to start as the imports take. Unlike a fork it is safe
    whatever threads this process has, and unlike a thread it can be interrupted and killed.

    Parameters
    ----------
    data : FoldData
        Sent to the process when it has started.
    """

    def __init__(self, data: FoldData) -> None:
        self._data: FoldData | None = data
        self._process = obtain_process(WORKER)

    def wait_until_ready(self) -> None:
        """Wait until the process has started and knows the data.

        Raises
        ------
        WorkerLostError
            If the process has ended.
        """
        self._exchange(self._data)
        self._data = None

    def attempt(self, task: FoldTask, seconds: float | None = None) -> Outcome:
        """Have a fit made, as by ``FoldFitter.attempt``.

        Parameters
        ----------
        task : FoldTask
        seconds : float, optional
            The time after which the fit is abandoned.

        Returns
        -------
        FoldResult or Exception

        Raises
        ------
        WorkerLostError
            If the process has ended.
        """
        return cast("Outcome", self._exchange((task, seconds)))

    def _exchange(self, content: object) -> object:
        source, sink = self._process.stdin, self._process.stdout
        assert source is not None
        assert sink is not None
        try:
            pickle.dump(content, source, pickle.HIGHEST_PROTOCOL)
            source.flush()
            return pickle.load(sink)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            raise WorkerLostError from error

    def stop(self) -> None:
        """End the process, whatever it does."""
        stop_process(self._process)
