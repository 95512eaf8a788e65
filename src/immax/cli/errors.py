"""Errors of the command: one line each, with the traceback on request.

The exit code is 2 if the call was wrong, 1 if the job failed and 130 if it was interrupted.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import typer
from typer.core import TyperGroup

from immax.cli.interrupts import INTERRUPTED
from immax.errors import WrongCall

if TYPE_CHECKING:
    from typer import Context

__all__ = ["ErrorReportingGroup", "report_errors"]


DEBUG = "--debug"
CLOSED_PIPE = 141  # as of programs that the signal SIGPIPE ends


class _Failure(NamedTuple):
    text: str
    exit_code: int


def _describe(error: BaseException) -> _Failure:
    """Return the line that describes an error, and the exit code."""
    text = _first_line(error)
    if isinstance(error, WrongCall | FileNotFoundError):
        return _Failure(text, 2)
    if isinstance(error, sqlite3.OperationalError):
        return _Failure(f"the results cannot be written: {text}", 1)
    if isinstance(error, sqlite3.DatabaseError):
        return _Failure(f"the results file is damaged: {text}", 1)
    if isinstance(error, MemoryError):
        return _Failure("there is not enough memory", 1)
    if isinstance(error, OSError | ImportError | UnicodeError) or _is_meant_for_users(error):
        return _Failure(text, 1)
    if isinstance(error, KeyboardInterrupt):
        return _Failure("interrupted; run the same command again to resume", INTERRUPTED)
    kind = type(error).__name__
    line = kind if text == kind else f"{kind}: {text}"
    return _Failure(f"unexpected error: {line}; run again with {DEBUG} for the traceback", 1)


def _is_meant_for_users(error: BaseException) -> bool:
    """Return whether a ValueError was raised by a statement, not by an operation that failed."""
    if not isinstance(error, ValueError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return not frames or (frames[-1].line or "raise").startswith("raise")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def report_errors(debug: bool = False) -> Iterator[None]:
    """Report errors in the block on standard error and exit.

    Parameters
    ----------
    debug : bool, default=False
        Whether to show the traceback before the line that describes the error.

    Yields
    ------
    None

    Raises
    ------
    typer.Exit
        With code 2 if the call was wrong, 1 if the job failed, 130 if it was interrupted, and 141
        if the output was closed.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise  # Typer's own control flow
    except BrokenPipeError:  # such as with | head: nobody reads the output any more
        _close_output()
        raise typer.Exit(CLOSED_PIPE) from None
    except (Exception, KeyboardInterrupt) as error:
        if hasattr(error, "format_message"):
            raise  # a wrong call that Typer has found
        if debug:
            traceback.print_exception(error)
        failure = _describe(error)
        typer.echo(f"immax: {failure.text}", err=True)
        raise typer.Exit(failure.exit_code) from None


class ErrorReportingGroup(TyperGroup):
    """A group of commands that reports every error in one line.

    It has the option ``--debug``, which may also follow the name of a command.
    """

    def invoke(self, ctx: Context) -> object:  # type: ignore[override]
        """Run a command.

        Parameters
        ----------
        ctx : typer.Context

        Returns
        -------
        object
            What the command returns.
        """
        with report_errors(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **settings: object
    ) -> NoReturn:
        """Parse the arguments, run the command, and exit.

        Parameters
        ----------
        args : sequence of str, optional
            By default those of the process.
        prog_name : str, optional
            The name of the program in help texts.
        **settings
            Passed on to Typer.
        """
        given = sys.argv[1:] if args is None else list(args)
        if DEBUG in given:
            given = [DEBUG, *(argument for argument in given if argument != DEBUG)]
        settings["standalone_mode"] = False
        try:
            code = super().main(given, prog_name, **settings)  # type: ignore[arg-type]
        except typer.Abort:
            typer.echo("immax: aborted", err=True)
            sys.exit(1)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            sys.exit(_show_usage_error(error))
        except KeyboardInterrupt:
            typer.echo("immax: interrupted", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(_flushed(code if isinstance(code, int) else 0))


def _flushed(code: int) -> int:
    """Write what is left of the output, and return the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close_output()
        return CLOSED_PIPE
    return code


def _close_output() -> None:
    """Discard the rest of the output, so that Python does not complain on exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_usage_error(error: Exception) -> int:
    """Show what is wrong with the arguments, and return the exit code."""
    context: Context | None = getattr(error, "ctx", None)
    text = str(error.format_message())  # type: ignore[attr-defined]
    if type(error).__name__ != "NoArgsIsHelpError":  # Rich has printed the help already
        hint = "" if context is None else f" (see {context.command_path} --help)"
        typer.echo(f"immax: {' '.join(text.split()).rstrip('.')}{hint}", err=True)
    return int(getattr(error, "exit_code", 2))
