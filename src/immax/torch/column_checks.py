"""Validation of margins and tables, with errors that name the column and the class."""

from __future__ import annotations

from math import inf
from typing import NamedTuple
from weakref import ref

import torch
from torch import Tensor

from immax.torch.checks import check_class_vector, is_readable, is_traced
from immax.torch.table import Table

__all__ = ["check_margins", "check_table", "known_to_be_valid"]

POSITIVE = "a positive, finite number"
NOT_NEGATIVE = "a finite number of at least 0"
FINITE = "a finite number"
NUMBERS = (
    ("temperature", POSITIVE),
    ("scale", POSITIVE),
    ("offset", FINITE),
    ("target_offset", FINITE),
    ("weight", NOT_NEGATIVE),
)


class _Checked(NamedTuple):
    """A valid column at a version; ``ones`` of its kind if it holds nothing else."""

    column: ref[Tensor]
    version: int
    length: int
    ones: Tensor | None


_checked: dict[tuple[int, str], _Checked] = {}  # as long as the columns live


def _remember(column: Tensor, domain: str, ones: Tensor | None) -> None:
    """Note that a column is valid."""
    key = id(column), domain

    def forget(dead: ref[Tensor]) -> None:
        known = _checked.get(key)
        if known is not None and known.column is dead:
            del _checked[key]

    _checked[key] = _Checked(ref(column, forget), column._version, len(column), ones)


def _is_in(domain: str, lowest: float, highest: float) -> bool:
    """Return whether a range lies in a domain; NaN lies in none."""
    if domain == POSITIVE:
        return lowest > 0 and highest < inf
    return lowest >= (0 if domain == NOT_NEGATIVE else -inf) and -inf < lowest <= highest < inf


def _check_values(column: Tensor, name: str, domain: str) -> bool:
    """Check the values of a readable column, and return whether each of them is one.

    A valid column is remembered, and not checked again before its version changes. Edits that
    PyTorch does not count, as those of ``column.data``, count in the loss all the same, since no
    result is kept; they only go without this check. Ones are compared by value in every call,
    because their loss is another function.
    """
    plain = column.detach() if column.requires_grad else column
    if plain.numel() == 0:
        return False
    ends = plain.aminmax()  # NaN if there is one
    lowest, highest = ends.min.item(), ends.max.item()
    if not _is_in(domain, lowest, highest):
        values = plain.tolist()
        k = next(k for k, value in enumerate(values) if not _is_in(domain, value, value))
        raise ValueError(f"{name}[{k}] is {values[k]}; it must be {domain}")
    ones = torch.ones_like(plain) if lowest == highest == 1 else None
    if not column.requires_grad and not column.is_inference():  # the others have no version
        _remember(column, domain, ones)
    return ones is not None


def known_to_be_valid(margins: Tensor, length: int) -> bool:
    """Return whether margins were checked, have not changed since, and are not all one.

    Parameters
    ----------
    margins : Tensor
    length : int
        The number of classes.

    Returns
    -------
    bool
    """
    checked = _checked.get((id(margins), POSITIVE))
    return (
        checked is not None
        and checked.column() is margins
        and checked.version == margins._version
        and checked.length == length
        and checked.ones is None
    )


def check_margins(rho: Tensor, logits: Tensor, n_classes: int | None = None) -> bool:
    """Check margins: one per class, on the logits' device, positive where they can be read.

    Parameters
    ----------
    rho : Tensor of shape (C,)
        The margins.
    logits : Tensor
        The tensor whose device they must be on.
    n_classes : int, optional
        The expected length; as many as there are logits by default.

    Returns
    -------
    bool
        Whether they are known to be all one.

    Raises
    ------
    TypeError, ValueError
        If something is wrong, with the class whose margin it is.
    """
    return check_table(Table(temperature=rho), logits, n_classes, "rho")


def check_table(
    table: Table,
    logits: Tensor,
    n_classes: int | None = None,
    temperature_name: str = "temperature",
    traced: bool | None = None,
) -> bool:
    """Check every column of a table.

    Parameters
    ----------
    table : Table
        The columns.
    logits : Tensor
        The tensor whose device they must be on.
    n_classes : int, optional
        The expected length; as many as there are logits by default.
    temperature_name : str, default="temperature"
        What error messages call that column; IMMAX calls it rho.
    traced : bool, optional
        The result of ``is_traced``, if the caller has it already.

    Returns
    -------
    bool
        Whether the loss is known to be cross-entropy by margins that are all one.

    Raises
    ------
    TypeError, ValueError
        If something is wrong, with the column and the class.
    """
    if traced is None:
        traced = is_traced()
    if n_classes is None:
        n_classes = logits.shape[0] if logits.ndim == 1 else logits.shape[1]
    n_columns, all_one = 0, False
    for k, column in enumerate(table.numbers()):
        if column is None:
            continue
        n_columns += 1
        name, domain = NUMBERS[k]
        checked = None if traced else _checked.get((id(column), domain))
        if (
            checked is not None
            and checked.column() is column
            and checked.version == column._version
            and checked.length == n_classes
            and logits.is_cpu
            and (checked.ones is None or torch.equal(column, checked.ones))
        ):
            all_one = checked.ones is not None
            continue
        name = temperature_name if k == 0 else name
        check_class_vector(column, name, logits, n_classes)
        if not column.is_floating_point():
            raise TypeError(f"{name} must be floating-point; got {column.dtype}")
        if is_readable(column, traced):
            all_one = _check_values(column, name, domain)
    if table.droppable is not None:
        check_class_vector(table.droppable, "droppable", logits, n_classes)
        if table.droppable.dtype is not torch.bool:
            raise TypeError(f"droppable must be bool; got {table.droppable.dtype}")
    rho = table.temperature
    return (
        all_one
        and n_columns == 1
        and rho is not None
        and not rho.requires_grad
        and not table.drops_or_focuses
    )
