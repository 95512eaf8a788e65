"""Errors as a person wants to read them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from immax.errors import WrongCall

__all__ = ["explained"]


@contextmanager
def explained() -> Iterator[None]:
    """Say what is wrong in a line, and exit: 2 if the call was wrong, 1 if the job failed."""
    try:
        yield
    except (WrongCall, FileNotFoundError) as error:
        raise _exit(str(error), 2) from None
    except sqlite3.OperationalError as error:
        raise _exit(f"the results cannot be written: {error}", 1) from None
    except (OSError, ImportError, ValueError) as error:
        raise _exit(str(error), 1) from None
    except KeyboardInterrupt:
        raise _exit("stopped; the same command goes on from here", 1) from None


def _exit(text: str, code: int) -> typer.Exit:
    typer.echo(f"immax: {text}", err=True)
    return typer.Exit(code)
