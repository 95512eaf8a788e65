"""A process that fits methods on folds for another one: ``python -m immax.compare.worker``.

It reads pickled objects from standard input (a ``FoldData``, then tasks with their time limits) and
writes the pickled outcome of each task to standard output. It ends with its input.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import BinaryIO

from immax.compare.fold_fits import FoldFitter

__all__ = ["main", "serve"]


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Fit what is asked for until the input ends.

    Parameters
    ----------
    source, sink : binary file
        Only ever connected to the process that has started this one.
    """
    try:
        fitter = FoldFitter(pickle.load(source))
        while True:
            task, seconds = pickle.load(source)
            try:
                outcome = fitter.attempt(task, seconds)
            except Exception as error:  # the other process decides what it means
                outcome = error
            pickle.dump(outcome, sink, pickle.HIGHEST_PROTOCOL)
            sink.flush()
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        return


def main() -> None:
    """Serve the process that has started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process is interrupted and ends this
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print must not get between the outcomes
    serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
