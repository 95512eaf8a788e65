"""The tree of commands, and the options of all of them."""

from __future__ import annotations

from typing import Annotated

import typer

from immax import __version__
from immax.cli.command_group import CommandGroup

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Learning from imbalanced data with class-sensitive confidence margins.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"immax {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar="IMMAX_DEBUG", help="Show the traceback of errors."),
    ] = False,
) -> None:
    """Declare the options; the group of commands reads them."""
