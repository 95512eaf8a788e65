"""Sums over the parts of the training data, wherever the parts are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

__all__ = ["Parts", "add_all"]


class Parts(Protocol):
    """The parts of the training data.

    A round is one call of ``reduce``: a function is applied to every part, and its results are
    added up.
    """

    n_rounds: int

    @property
    def keeps_scores(self) -> bool:
        """Whether parts stay in memory from one round to the next."""

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(part, *args)`` over all parts.

        Parameters
        ----------
        function : callable
            From a part and further arguments to something that ``add_all`` can add.
        *args : object
            Further arguments, the same for every part.

        Returns
        -------
        object
        """


def add_all(terms: Sequence[Any]) -> Any:
    """Add numbers, arrays, lists (which are joined), or tuples of these.

    Parameters
    ----------
    terms : sequence
        At least one; all of the same structure.

    Returns
    -------
    object
        Of this structure.

    Examples
    --------
    >>> add_all([(1.5, [2]), (1.0, [3]), (0.5, [])])
    (3.0, [2, 3])
    """
    first = terms[0]
    if isinstance(first, tuple):
        sums = (add_all(column) for column in zip(*terms, strict=True))
        return type(first)(*sums) if hasattr(first, "_fields") else tuple(sums)
    total = first
    for term in terms[1:]:
        total = total + term
    return total
