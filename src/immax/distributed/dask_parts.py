"""Parts on the workers of a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from pathlib import Path
from typing import Any

from immax.distributed.clusters import wait_for
from immax.distributed.collections import partitions_of
from immax.distributed.raw_parts import Encoding, encode_part, read_part
from immax.distributed.reduction import add_all

try:
    from dask import delayed
    from dask.optimization import cull
    from distributed import Client, Future
except ModuleNotFoundError as error:
    raise ImportError('immax.distributed needs Dask: pip install "immax[distributed]"') from error

__all__ = ["DaskParts", "place_parts"]

FAN_IN = 8  # results that are added at a time on a worker
ENDINGS = "parquet|pq|csv|tsv|txt|npy|npz|feather|h5|hdf5|orc|json"
PATH = re.compile(rf".+\.(?:{ENDINGS})(?:\.\w+)?")


class DaskParts:
    """Parts that stay on the workers, as futures.

    Sums are formed in a tree on the workers. Parts that are lost with their worker are computed
    again by Dask, from the collection that they came from.

    Parameters
    ----------
    client : distributed.Client
        The client.
    futures : sequence of distributed.Future
        The parts.
    """

    keeps_scores = True

    def __init__(self, client: Client, futures: Sequence[Future]) -> None:
        self._client = client
        self._futures = list(futures)
        self.n_rounds = 0

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(part, *args)`` over all parts."""
        self.n_rounds += 1
        call = _Call(function, args)
        terms = self._client.map(call.on, self._futures, key=function.__name__, pure=False)
        while len(terms) > FAN_IN:
            groups = [terms[begin : begin + FAN_IN] for begin in range(0, len(terms), FAN_IN)]
            terms = self._client.map(add_all, groups, key="add_all", pure=False)
        return add_all(wait_for(self._client, terms))

    def encoded(self, encoding: Encoding) -> DaskParts:
        """Return the parts with class indices for labels, beside the parts as they were read.

        Parameters
        ----------
        encoding : Encoding
            The classes of all parts, and where each of them begins.

        Returns
        -------
        DaskParts
        """
        futures = self._client.map(encode_part, self._futures, encoding=encoding, pure=False)
        return DaskParts(self._client, futures)


class _Call:
    """A function with all arguments but the part; Dask sends it once with a round."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function, self._args = function, args

    def on(self, part: Any) -> Any:
        return self._function(part, *self._args)


def place_parts(client: Client, X: Any, y: Any, weight: Any) -> DaskParts:
    """Read the partitions of collections on the workers.

    Parameters
    ----------
    client : distributed.Client
        The client.
    X : dask.array.Array or dask.dataframe.DataFrame
        Features, with all columns in one chunk.
    y : dask.array.Array or dask.dataframe.Series
        Labels, in the same partitions.
    weight : dask.array.Array, dask.dataframe.Series or None
        Sample weights.

    Returns
    -------
    DaskParts
        Parts as they were read: ``RawPart``.

    Raises
    ------
    ValueError
        If a partition cannot be read; the message names it, and its file where that is known.
    ClusterError
        If the cluster is lost.
    """
    blocks = partitions_of(X)
    labels, weights = partitions_of(y), partitions_of(weight, len(blocks))
    read = delayed(read_part, pure=False)
    tasks = [
        read(number, *columns)
        for number, columns in enumerate(zip(blocks, labels, weights, strict=True))
    ]
    futures = client.compute(tasks)
    try:
        wait_for(client, client.map(len, futures, pure=False))
    except Exception as error:
        for number, future in enumerate(futures):
            if future.status == "error":
                raise _named(number, blocks[number], error) from error
        raise
    return DaskParts(client, futures)


def _named(number: int, block: Any, error: Exception) -> Exception:
    """Return the error of a partition with its number and its files."""
    text = (str(error).strip() or repr(error)).splitlines()[0]
    if text.startswith(f"partition {number}:"):
        return ValueError(text)
    own, _ = cull(dict(block.dask), [block.key])
    strings = _strings(own.values())
    files = sorted({text for text in strings if PATH.fullmatch(text)})
    where = f" ({', '.join(files)})" if files else ""
    return ValueError(f"partition {number}{where} cannot be read: {text}")


def _strings(content: Any) -> Iterator[str]:
    """Yield the strings among the arguments of tasks."""
    if isinstance(content, (str, Path)):
        yield str(content)
    elif isinstance(content, Mapping):
        yield from _strings(content.values())
    elif isinstance(content, (list, tuple, set, ValuesView)):
        for own in content:
            yield from _strings(own)
    elif hasattr(content, "args") and hasattr(content, "kwargs"):
        yield from _strings((content.args, content.kwargs))
    elif hasattr(content, "path"):  # a file that is opened on a worker
        yield from _strings(content.path)
