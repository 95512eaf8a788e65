"""The entry point of the command ``immax``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; exit codes are 0, 1 (the job failed) and 2 (the call was wrong)."""
    try:
        from immax.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print('the command needs Typer and Rich: pip install "immax[cli]"', file=sys.stderr)
        raise SystemExit(1) from None
    app()
