"""Options of commands that read a table for training: what its columns hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from immax.errors import WrongCall

if TYPE_CHECKING:
    from immax.tabular import ReadingOptions

__all__ = ["DateFormat", "Decimal", "Kinds", "reading_options"]

DateFormat = Annotated[
    str | None,
    typer.Option(
        help="The format of dates, such as %d/%m/%Y, where days cannot be told from months.",
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="The decimal mark, . or a comma, where it cannot be told from a separator.",
        show_default=False,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        help="What a column holds: NAME=number, NAME=category, NAME=date or NAME=drop. Can be "
        "given more than once.",
        show_default=False,
    ),
]


def reading_options(
    date_format: str | None, decimal: str | None, kinds: list[str] | None
) -> ReadingOptions:
    """Return the options of a command as one object.

    Parameters
    ----------
    date_format, decimal : str or None
    kinds : list of str or None
        Each is a name, an equals sign and a kind.

    Returns
    -------
    ReadingOptions

    Raises
    ------
    WrongCall
        If an option cannot be understood.

    Examples
    --------
    >>> reading_options(None, None, ["zip=category"]).kinds
    {'zip': 'category'}
    """
    from immax.tabular import ReadingOptions

    pairs = {}
    for text in kinds or []:
        name, equals, kind = text.rpartition("=")
        if not equals or not name:
            raise WrongCall(f"--kind must be like NAME=category; got {text!r}")
        pairs[name] = kind
    return ReadingOptions(date_format, decimal, pairs)
