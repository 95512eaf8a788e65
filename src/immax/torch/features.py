"""Features of a network: what goes into one of its layers, for all samples of a loader."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader

from immax.torch.head_layers import Batch, find_layer, split_batch
from immax.torch.labels import check_draws_once

__all__ = ["Features", "collect_features"]

Features: TypeAlias = "tuple[NDArray[np.float32], NDArray[np.int64]]"
"""Features of shape (n, d), and labels of shape (n,)."""

MOST_BYTES = 2**30  # of features that are held in memory


def collect_features(
    model: nn.Module,
    loader: DataLoader[Any] | Iterable[Any],
    layer: str | nn.Module = "auto",
    *,
    file: str | Path | None = None,
    max_bytes: int = MOST_BYTES,
) -> Features:
    """Return the features that a network computes for all samples, and the labels.

    The features are the inputs of a layer. The network runs once over the loader, on its own
    device, in evaluation mode and without gradients; afterwards every module is in its previous
    mode. A bar on the terminal shows the progress.

    Parameters
    ----------
    model : nn.Module
        A network of any library.
    loader : DataLoader or iterable of batches
        Yields (inputs, labels), or dicts with the labels under "label", "labels", "target",
        "targets" or "y" and the arguments of the network. A sampler that draws samples repeatedly
        is refused.
    layer : str or nn.Module, default="auto"
        "auto" is the linear layer that the network calls last; any other layer by its name.
    file : path, optional
        A file to write the features to, which are then memory-mapped. By default features of more
        than ``max_bytes`` are in a temporary file, which is deleted with them.
    max_bytes : int, default=2**30
        The size from which on features are memory-mapped.

    Returns
    -------
    features : ndarray of float32, shape (n, d)
    labels : ndarray of int64, shape (n,)

    Raises
    ------
    TypeError
        If the batches have no labels.
    ValueError
        If there is no such layer, it is not called once for each batch, or its inputs are not one
        vector per sample.

    Examples
    --------
    >>> from torch.utils.data import TensorDataset
    >>> data = TensorDataset(torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0]))
    >>> model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> features, labels = collect_features(model, DataLoader(data, batch_size=2))
    >>> features.shape, labels.tolist()
    ((5, 8), [0, 1, 2, 1, 0])
    """
    if isinstance(loader, DataLoader):
        check_draws_once(loader)
    rows = FeatureRows(file, max_bytes)
    labels: list[Tensor] = []
    with evaluation_mode(model), torch.no_grad():
        device = device_of(model)
        recorder: LayerInputs | None = None
        try:
            for number, batch in enumerate(_shown(loader)):
                part = split_batch(batch)
                if recorder is None:
                    name, module = find_layer(model, layer, lambda: part.run(model, device))  # noqa: B023
                    recorder = LayerInputs(name, module)
                rows.append(recorder.inputs(model, part, device, number))
                labels.append(part.labels)
        except BaseException:
            rows.discard()
            raise
        finally:
            if recorder is not None:
                recorder.remove()
    if not labels:
        raise ValueError("the loader is empty: there are no features to collect")
    return rows.array(), torch.cat(labels).numpy()


def device_of(model: nn.Module) -> torch.device:
    """Return the device of a network's first parameter, or else of its first buffer.

    Parameters
    ----------
    model : nn.Module

    Returns
    -------
    torch.device
        The CPU if there are neither.
    """
    for tensors in (model.parameters(), model.buffers()):
        for tensor in tensors:
            return tensor.device
    return torch.device("cpu")


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Run a network in evaluation mode, and restore the mode of each of its modules.

    Parameters
    ----------
    model : nn.Module
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


class LayerInputs:
    """The inputs of a layer, recorded by a hook.

    Parameters
    ----------
    name : str
        The name of the layer, for messages.
    layer : nn.Module
    """

    def __init__(self, name: str, layer: nn.Module) -> None:
        self.name = name
        self._seen: list[Any] = []
        self._handle = layer.register_forward_pre_hook(self._record, with_kwargs=True)

    def _record(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._seen.append(args[0] if args else next(iter(kwargs.values()), None))

    def remove(self) -> None:
        """Remove the hook."""
        self._handle.remove()

    def inputs(
        self, model: nn.Module, batch: Batch, device: torch.device, number: int
    ) -> NDArray[np.float32]:
        """Run the network on a batch and return the inputs of the layer."""
        self._seen.clear()
        batch.run(model, device)
        if len(self._seen) != 1:
            raise ValueError(
                f"layer {self.name!r} must be called once in a pass of the network; it was called "
                f"{len(self._seen)} times"
            )
        values, n = self._seen.pop(), len(batch.labels)
        if not isinstance(values, Tensor) or values.ndim != 2 or len(values) != n:
            shape = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise ValueError(
                f"layer {self.name!r} must get one vector for each of the {n} samples of batch "
                f"{number}; it got {shape}"
            )
        return np.asarray(values.detach().float().cpu().numpy())


class FeatureRows:
    """Rows of features in memory, or in a file once they are many.

    Parameters
    ----------
    file : path or None
        The file, if it is to be one.
    max_bytes : int
        The size from which on a temporary file is used.
    """

    def __init__(self, file: str | Path | None, max_bytes: int) -> None:
        self._path = None if file is None else Path(file)
        self._most = max_bytes
        self._parts: list[NDArray[np.float32]] = []
        self._stream: IO[bytes] | None = None if file is None else open(file, "wb")  # noqa: SIM115
        self._rows = self._width = 0
        self._temporary = False

    def append(self, part: NDArray[np.float32]) -> None:
        """Append rows, all of the same width."""
        if self._rows and part.shape[1] != self._width:
            raise ValueError(
                f"all samples must have the same number of features; got {self._width} and "
                f"{part.shape[1]}"
            )
        self._rows, self._width = self._rows + len(part), part.shape[1]
        self._parts.append(part)
        if self._stream is None and self._rows * self._width * part.itemsize > self._most:
            handle, name = tempfile.mkstemp(prefix="immax-features-")
            self._stream, self._path = os.fdopen(handle, "wb"), Path(name)
            self._temporary = True
        if self._stream is not None:
            for rows in self._parts:
                self._stream.write(np.ascontiguousarray(rows).tobytes())
            self._parts.clear()

    def array(self) -> NDArray[np.float32]:
        """Return all rows; a memory map of the file if there is one."""
        if self._stream is None or self._path is None:
            return np.concatenate(self._parts)
        self._stream.close()
        array = np.memmap(self._path, np.float32, "r", shape=(self._rows, self._width))
        if self._temporary:
            weakref.finalize(array, _delete, self._path)
        return array

    def discard(self) -> None:
        """Close the file, and delete it."""
        if self._stream is not None and self._path is not None:
            self._stream.close()
            self._path.unlink(missing_ok=True)


def _delete(path: Path) -> None:
    with suppress(OSError):  # of systems that do not delete files in use
        path.unlink()


def _shown(loader: Iterable[Any]) -> Iterator[Any]:
    """Yield the batches, with the progress on a terminal."""
    shown = sys.stderr.isatty()
    total = None
    with suppress(TypeError):  # of data that can only be iterated over
        total = len(loader) if isinstance(loader, Sized) else None
    for number, batch in enumerate(loader, start=1):
        yield batch
        if shown:
            of = "" if total is None else f" of {total}"
            print(f"\rfeatures: batch {number}{of}", end="", file=sys.stderr, flush=True)
    if shown:
        print(file=sys.stderr)
