"""Parts that are read again in every round, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from immax.distributed.raw_parts import Encoding, RawPart, encode_part
from immax.distributed.reduction import add_all

__all__ = ["StreamParts", "read_ahead"]

T = TypeVar("T")


class StreamParts:
    """Parts from a source that can be read any number of times.

    Two parts are in memory at a time: one is computed with while the next is read.

    Parameters
    ----------
    read : callable
        Returns an iterator over all parts, the same in every call.
    encoding : Encoding, optional
        How parts are encoded; by default they are left as they are read.
    on_pass : callable, optional
        Called at the beginning of every pass with its number.
    """

    keeps_scores = False

    def __init__(
        self,
        read: Callable[[], Iterator[RawPart]],
        encoding: Encoding | None = None,
        on_pass: Callable[[int], None] | None = None,
    ) -> None:
        self._read, self._encoding, self._on_pass = read, encoding, on_pass
        self.n_rounds = 0

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(part, *args)`` over all parts, in one pass."""
        self.n_rounds += 1
        if self._on_pass is not None:
            self._on_pass(self.n_rounds)
        total = None
        for raw in read_ahead(self._read()):
            part = raw if self._encoding is None else encode_part(raw, self._encoding)
            term = function(part, *args)
            total = term if total is None else add_all([total, term])
        if total is None:
            raise ValueError("there are no rows")
        return total

    def encoded(self, encoding: Encoding) -> StreamParts:
        """Return the parts with class indices for labels.

        Parameters
        ----------
        encoding : Encoding
            The classes of all parts, and where each of them begins.

        Returns
        -------
        StreamParts
        """
        return StreamParts(self._read, encoding, self._on_pass)


def read_ahead(source: Iterable[T]) -> Iterator[T]:
    """Yield the elements of a source; the next one is read in a thread in the meantime.

    Parameters
    ----------
    source : iterable
        What to read.

    Yields
    ------
    object
        The elements, in order.
    """
    iterator = iter(source)
    end = object()
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, iterator, end)
        while True:
            element = following.result()
            if element is end:
                return
            following = pool.submit(next, iterator, end)
            yield element  # type: ignore[misc]
