"""Validation of margins and tables, with errors that name the column and the class."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from immax.torch.checks import check_class_vector, is_readable
from immax.torch.table import Table

__all__ = ["check_margins", "check_table"]

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


@lru_cache(maxsize=64)
def _are_all_one(content: bytes, dtype: str, name: str, domain: str) -> bool:
    """Check the values of a column, and return whether each of them is one.

    The cache is by value: an edit of the tensor, by whatever way, is a different content.
    """
    values = np.frombuffer(content, dtype)
    valid = np.isfinite(values)
    if domain != FINITE:
        valid &= values > 0 if domain == POSITIVE else values >= 0
    if not valid.all():
        k = int(np.argmin(valid))
        raise ValueError(f"{name}[{k}] is {float(values[k])}; it must be {domain}")
    return bool((values == 1).all())


_checked: dict[tuple[int, str], tuple[Tensor, int]] = {}
MOST_CHECKED = 64  # columns that are remembered


def _check_values(column: Tensor, name: str, domain: str) -> bool:
    """Check the values of a readable column, and return whether each of them is one.

    A column that was valid and not all ones is not read again before its version changes. Edits
    that PyTorch does not count, as those of ``column.data``, cannot make its loss another one
    then; they only go without this check.
    """
    key = id(column), domain
    checked = _checked.get(key)
    tracked = not column.is_inference()  # others have no version
    if checked is not None and tracked:
        same, version = checked
        if same is column and version == column._version:
            return False
    plain = column.detach() if column.requires_grad else column
    if plain.dtype is torch.bfloat16:  # which NumPy does not have
        plain = plain.float()
    values = plain.numpy()
    all_one = _are_all_one(values.tobytes(), values.dtype.str, name, domain)
    if tracked and not all_one and not column.requires_grad:
        if len(_checked) >= MOST_CHECKED:
            _checked.clear()
        _checked[key] = column, column._version
    return all_one


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
    n_columns, all_one = 0, False
    for column, (own_name, domain) in zip(table.numbers(), NUMBERS, strict=True):
        if column is None:
            continue
        name = temperature_name if own_name == "temperature" else own_name
        check_class_vector(column, name, logits, n_classes)
        if not column.is_floating_point():
            raise TypeError(f"{name} must be floating-point; got {column.dtype}")
        n_columns += 1
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
