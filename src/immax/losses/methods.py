"""The registry of methods: a row for each function of ``immax.losses.catalog``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from immax.losses.spec import LossSpec

__all__ = ["METHODS", "Method", "register_method"]


@dataclass(frozen=True)
class Method:
    """A row of the registry.

    Attributes
    ----------
    name : str
        The key in ``METHODS``, which is the name of the function.
    title : str
        The name in tables.
    formula : str
        The loss of a sample of class y with scores h, in one line.
    make : callable
        ``make(counts, **hyper_parameters) -> LossSpec``.
    grid : mapping of str to tuple of float
        The values to search, by hyper-parameter: those of the paper for its baselines, and ours
        for vector scaling, which the paper does not have. It is empty for methods without
        hyper-parameters, and for IMMAX, whose margins are searched around the theory's, which
        depend on the counts: see ``immax.search.BoxFamily`` and ``SharedTailFamily``.
    in_paper : bool
        Whether the paper's tables have the method.
    revision : int
        Raised whenever the method's loss changes, so that results which an experiment has stored
        are not taken for those of the new loss.
    """

    name: str
    title: str
    formula: str
    make: Callable[..., LossSpec]
    grid: Mapping[str, tuple[float, ...]]
    in_paper: bool = True
    revision: int = 1


_REGISTERED: dict[str, Method] = {}
METHODS: Mapping[str, Method] = MappingProxyType(_REGISTERED)
"""All methods by name, in the order of the paper's tables, IMMAX first."""

_Make = TypeVar("_Make", bound=Callable[..., LossSpec])


def register_method(
    title: str,
    formula: str,
    *,
    in_paper: bool = True,
    revision: int = 1,
    **grid: tuple[float, ...],
) -> Callable[[_Make], _Make]:
    """Register a function under its own name, with its row.

    Parameters
    ----------
    title, formula, in_paper, revision
        As in ``Method``.
    **grid : tuple of float
        The values to search, by hyper-parameter.

    Returns
    -------
    callable
        A decorator, which returns the function as it is.
    """

    def register(make: _Make) -> _Make:
        name = make.__name__
        row = (MappingProxyType(grid), in_paper, revision)
        _REGISTERED[name] = Method(name, title, formula, make, *row)
        return make

    return register
