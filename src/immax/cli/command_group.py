"""The group of all commands, whose modules are imported when a command is called."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from typer.core import TyperCommand
from typer.main import get_command

from immax.cli.errors import ErrorReportingGroup
from immax.cli.interrupts import raise_when_interrupted

if TYPE_CHECKING:
    from typer import Context

__all__ = ["COMMANDS", "CommandGroup"]


class _Command(NamedTuple):
    module: str
    help: str


COMMANDS = {
    "bench": _Command(
        "bench",
        "Run experiments from plans, which can be interrupted and resumed, and report results.",
    ),
    "compare": _Command(
        "comparison",
        "Compare methods on a table, recommend one, and write report.html and model.skops.",
    ),
    "fit": _Command(
        "models",
        "Fit IMMAX to a table; margins, λ and the decision rule are selected by cross-validation.",
    ),
    "predict": _Command(
        "models", "Predict labels or probabilities for the rows of a table of any length."
    ),
    "explain": _Command(
        "models", "Describe a model: its classes, margins, threshold and coefficients."
    ),
    "export": _Command(
        "onnx_export",
        "Write a model as an ONNX file, with its preprocessing, probabilities and decision rule.",
    ),
    "margins": _Command(
        "prescribed_margins",
        "Show the margins that the theory prescribes, and the box in which to search for better "
        "ones.",
    ),
}
"""The module of each command, and the first sentence of its help."""


@cache
def _import_command(name: str) -> Any:
    module = import_module(f"immax.cli.{COMMANDS[name].module}")
    command = get_command(module.commands)
    own = getattr(command, "commands", {}).get(name, command)
    own.name = name
    return own


class CommandGroup(ErrorReportingGroup):
    """The commands of ``immax``; the help of all of them needs none of their modules.

    Parameters
    ----------
    **settings
        Passed on to Typer.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._listing = False
        self.commands = {
            name: TyperCommand(name, help=command.help) for name, command in COMMANDS.items()
        }

    def get_command(self, ctx: Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ARG002
        """Import a command.

        Parameters
        ----------
        ctx : typer.Context
        cmd_name : str

        Returns
        -------
        command or None
            None if there is no such command.
        """
        if self._listing or cmd_name not in COMMANDS:
            return self.commands.get(cmd_name)
        command = _import_command(cmd_name)
        raise_when_interrupted()
        return command

    def format_help(self, ctx: Context, formatter: object) -> None:  # type: ignore[override]
        """Write the help of the group.

        Parameters
        ----------
        ctx : typer.Context
        formatter : HelpFormatter
        """
        self._listing = True
        try:
            super().format_help(ctx, formatter)  # type: ignore[arg-type]
        finally:
            self._listing = False
