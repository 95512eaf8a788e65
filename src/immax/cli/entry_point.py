"""The entry point of the command ``immax``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from immax.cli.interrupts import exit_when_interrupted

__all__ = ["main"]


def main() -> None:
    """Run the command ``immax`` with the arguments of the process.

    Raises
    ------
    SystemExit
        Always, with code 0 (done), 1 (the job failed), 2 (the call was wrong), 130 (interrupted)
        or 141 (nobody reads the output any more).
    """
    exit_when_interrupted()
    try:
        if sys.argv[1:] == ["--version"]:
            from immax import __version__

            print(f"immax {__version__}", flush=True)
            raise SystemExit(0)
        _start_workers(sys.argv[1:])
        from immax.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        message = 'immax: the command needs Typer and Rich: pip install "immax[cli]"'
        print(message, file=sys.stderr)
        raise SystemExit(1) from None
    app()


def _start_workers(arguments: Sequence[str]) -> None:
    """Let the processes of a comparison import what they need while this one does."""
    if arguments[:1] != ["compare"] or any(a.startswith(("--help", "--jobs")) for a in arguments):
        return
    from immax.helper_processes import start_ahead
    from immax.threads import available_cores

    start_ahead("immax.compare.worker", available_cores() - 1)
