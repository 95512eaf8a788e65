"""Files that commands write: what must not be overwritten, and formats by their endings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from immax.atomic import check_writable
from immax.errors import WrongCall

__all__ = ["check_model_output", "check_output"]


def check_output(out: Path, inputs: Iterable[Path] = ()) -> None:
    """Check that a file can be written and is none of those that the command reads.

    Parameters
    ----------
    out : Path
        The file that the command will write.
    inputs : iterable of Path
        The files and folders that it reads.

    Raises
    ------
    WrongCall
        If the file is one of the inputs, or within one of them, or standard output.
    OSError
        If it cannot be written.
    """
    if str(out) == "-":
        raise WrongCall("standard output (-) is the default: leave out -o")
    for path in inputs:
        if not path.exists():
            continue
        if out.exists() and out.samefile(path):
            raise WrongCall(f"{out} is a file that the command reads: it would be overwritten")
        if path.is_dir() and path.resolve() in out.resolve().parents:
            raise WrongCall(f"{out} is in the folder that the command reads")
    try:
        check_writable(out)
    except IsADirectoryError as error:
        raise WrongCall(str(error)) from None


def check_model_output(out: Path, table: Path) -> None:
    """Check that a model file can be written, and that its name is not that of a table.

    Parameters
    ----------
    out : Path
        The model file.
    table : Path
        The table that the model is fitted to.

    Raises
    ------
    WrongCall
        If the file is the table, or has the ending of one.
    OSError
        If it cannot be written.
    """
    from immax.tabular.table_files import file_format

    try:
        file_format(out)
    except WrongCall:
        check_output(out, [table])
        return
    raise WrongCall(f"{out} has the ending of a table: model files end in .skops")
