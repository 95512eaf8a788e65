"""The entry point of the command ``immax``."""

from __future__ import annotations

import sys

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
        from immax.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        message = 'immax: the command needs Typer and Rich: pip install "immax[cli]"'
        print(message, file=sys.stderr)
        raise SystemExit(1) from None
    app()
