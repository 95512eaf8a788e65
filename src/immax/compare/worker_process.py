"""The other end of ``immax.compare.worker``: a process that fits methods on folds."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from typing import cast

from immax.compare.fold_fits import FoldData, FoldTask, Outcome

__all__ = ["WorkerLostError", "WorkerProcess"]

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class WorkerLostError(RuntimeError):
    """The process has ended, or was killed, before it gave an outcome."""


class WorkerProcess:
    """A process of its own for fits, with one thread for each library.

    A fresh interpreter takes about as long to start as the imports take. Unlike a fork it is safe
    whatever threads this process has, and unlike a thread it can be interrupted and killed.

    Parameters
    ----------
    data : FoldData
        Sent to the process with the first task.
    """

    def __init__(self, data: FoldData) -> None:
        self._data: FoldData | None = data
        path = os.pathsep.join(part for part in sys.path if part)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "immax.compare.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": path},
        )

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
        source, sink = self._process.stdin, self._process.stdout
        assert source is not None
        assert sink is not None
        try:
            if self._data is not None:
                pickle.dump(self._data, source, pickle.HIGHEST_PROTOCOL)
                self._data = None
            pickle.dump((task, seconds), source, pickle.HIGHEST_PROTOCOL)
            source.flush()
            return cast("Outcome", pickle.load(sink))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            raise WorkerLostError from error

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent is of no use any more
                    pipe.close()
