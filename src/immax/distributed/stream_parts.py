"""Parts that are read again in every round, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from scipy import sparse

from immax.distributed.raw_parts import Encoding, RawPart, encode_part
from immax.distributed.reduction import add_all

__all__ = ["ReadMeter", "StreamParts", "read_ahead"]

T = TypeVar("T")


class ReadMeter:
    """The passes over a source, and the bytes of features that were read.

    Parameters
    ----------
    on_change : callable, optional
        Called with the meter when a pass begins, and for every part.

    Attributes
    ----------
    passes, n_bytes : int
        The numbers so far.
    """

    def __init__(self, on_change: Callable[[ReadMeter], None] | None = None) -> None:
        self._on_change = on_change
        self.passes = self.n_bytes = 0

    def begin_pass(self) -> None:
        """Count a pass."""
        self.passes += 1
        self._report()

    def count(self, part: RawPart) -> None:
        """Count the bytes of a part.

        Parameters
        ----------
        part : RawPart
            A part that was read.
        """
        X = part.X
        self.n_bytes += int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)
        self._report()

    def _report(self) -> None:
        if self._on_change is not None:
            self._on_change(self)

    def __str__(self) -> str:
        size = self.n_bytes / 2**20
        read = f"{size:.0f} MiB" if size < 1000 else f"{size / 2**10:.1f} GiB"
        return f"pass {self.passes}, {read} read"


class StreamParts:
    """Parts from a source that can be read any number of times.

    Two parts are in memory at a time: one is computed with while the next is read.

    Parameters
    ----------
    read : callable
        Returns an iterator over all parts, the same in every call.
    encoding : Encoding, optional
        How parts are encoded; by default they are left as they are read.
    meter : ReadMeter, optional
        Counts what is read.
    """

    keeps_scores = False

    def __init__(
        self,
        read: Callable[[], Iterator[RawPart]],
        encoding: Encoding | None = None,
        meter: ReadMeter | None = None,
    ) -> None:
        self._read, self._encoding, self._meter = read, encoding, meter or ReadMeter()
        self.n_rounds = 0

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(part, *args)`` over all parts, in one pass.

        Parameters
        ----------
        function : callable
            From a part to a term of the sum.
        *args
            Further arguments of the function.

        Returns
        -------
        object
            The sum of the terms.

        Raises
        ------
        ValueError
            If there are no parts.
        """
        self.n_rounds += 1
        self._meter.begin_pass()
        total = None
        for raw in read_ahead(self._read()):
            self._meter.count(raw)
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
        return StreamParts(self._read, encoding, self._meter)


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
