"""The command's tree."""

from __future__ import annotations

from typing import Annotated

import typer

from immax import __version__
from immax.cli.bench import bench
from immax.cli.comparison import compare
from immax.cli.models import explain, fit, predict
from immax.cli.prescription import margins

__all__ = ["app"]

app = typer.Typer(
    help="Learning from imbalanced data with class-sensitive confidence margins.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(bench, name="bench")
for command in (compare, fit, predict, explain, margins):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"immax {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    pass
