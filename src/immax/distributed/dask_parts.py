"""Parts on the workers of a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

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
GROUP_BYTES = 2**29  # of the features of parts that are asked together: Dask spills them as one
ENDINGS = "parquet|pq|csv|tsv|txt|npy|npz|feather|h5|hdf5|orc|json"
PATH = re.compile(rf".+\.(?:{ENDINGS})(?:\.\w+)?")


class PartGroup:
    """Parts on one worker that are asked together: tasks cost time, however little they do.

    Parameters
    ----------
    parts : list
        The parts.
    """

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def __sizeof__(self) -> int:
        """Return the number of bytes, by which Dask manages the memory of its workers."""
        return sum(map(_sizeof, self.parts))


class DaskParts:
    """Parts that stay on the workers, as futures of groups of parts.

    Sums are formed in a tree on the workers. Parts that are lost with their worker are computed
    again by Dask, from the collection that they came from.

    Parameters
    ----------
    client : distributed.Client
        The client.
    groups : sequence of distributed.Future
        Results are a ``PartGroup``.
    homes : sequence of str
        The address of the worker that holds each group; empty if it is not known.
    """

    keeps_scores = True

    def __init__(self, client: Client, groups: Sequence[Future], homes: Sequence[str]) -> None:
        self._client = client
        self._groups = list(groups)
        self._homes = list(homes)
        self._latest: list[Future] = []  # whose release would delay the next question
        self.n_rounds = 0

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(part, *args)`` over all parts.

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
        """
        self.n_rounds += 1
        terms = self._at_home(_Call(function, args).on)
        while len(terms) > FAN_IN:
            groups = [terms[begin : begin + FAN_IN] for begin in range(0, len(terms), FAN_IN)]
            terms = self._client.map(add_all, groups, key="add_all", pure=False)
        self._latest = terms
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
        groups = self._at_home(_encode_group, encoding)
        return DaskParts(self._client, groups, self._homes)

    def _at_home(self, function: Callable[..., Any], *args: Any) -> list[Future]:
        """Call a function of each group where the group is; elsewhere only if its worker is gone.

        The scheduler would give an idle worker the group of another one, which takes longer to
        move than to evaluate.
        """
        return [
            _submit_to(self._client, home, function, group, *args)
            for group, home in zip(self._groups, self._homes, strict=True)
        ]


class _Call:
    """A function with all arguments but the part; Dask sends it once with a round."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function, self._args = function, args

    def on(self, group: PartGroup) -> Any:
        return add_all([self._function(part, *self._args) for part in group.parts])


def _submit_to(client: Client, worker: str, function: Callable[..., Any], *args: Any) -> Future:
    """Submit a task to a worker, or to any if the worker is not known or gone."""
    workers = [worker] if worker else None
    return client.submit(
        function, *args, workers=workers, allow_other_workers=bool(worker), pure=False
    )


def _encode_group(group: PartGroup, encoding: Encoding) -> PartGroup:
    return PartGroup([encode_part(part, encoding) for part in group.parts])


def _sizeof(part: Any) -> int:
    """Return the bytes of the features of a part, which are nearly all of it."""
    X = part.X
    return int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)


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
        sizes = wait_for(client, client.map(_sizeof, futures, pure=False))
    except Exception:
        for number, future in enumerate(futures):
            if future.status == "error":
                own = future.exception()
                raise _named(number, blocks[number], own) from own
        raise
    return DaskParts(client, *_group(client, futures, sizes))


def _group(
    client: Client, futures: Sequence[Future], sizes: Sequence[int]
) -> tuple[list[Future], list[str]]:
    """Form groups of the parts that a worker holds: one for each thread, unless they are large."""
    holders, threads = client.who_has(futures), client.nthreads()
    held: dict[str, list[int]] = {}
    for place, future in enumerate(futures):
        owners = holders.get(future.key) or [""]
        held.setdefault(owners[0], []).append(place)
    groups, homes = [], []
    for worker, places in held.items():
        total = sum(sizes[place] for place in places)
        count = max(threads.get(worker, 1), -(-total // GROUP_BYTES))
        for own in np.array_split(places, min(count, len(places))):
            parts = [futures[place] for place in own]
            groups.append(_submit_to(client, worker, PartGroup, parts))
            homes.append(worker)
    return groups, homes


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
