"""The last linear layer of a network: how it is found, and how it is replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from immax.torch.labels import KEYS

__all__ = ["Batch", "find_layer", "layer_names", "replace_layer", "split_batch"]


class Batch(NamedTuple):
    """The inputs and the labels of a batch.

    Attributes
    ----------
    args : tuple
        Positional arguments of the network.
    kwargs : dict
        Arguments by name.
    labels : Tensor of int64, shape (N,)
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    labels: Tensor

    def run(self, model: nn.Module, device: torch.device) -> Any:
        """Return the output of a network for the batch.

        Parameters
        ----------
        model : nn.Module
            The network.
        device : torch.device
            Where its parameters are; the inputs are moved there.

        Returns
        -------
        object
            What the network returns.
        """
        args = [_on(value, device) for value in self.args]
        return model(*args, **{key: _on(value, device) for key, value in self.kwargs.items()})


def split_batch(batch: Any) -> Batch:
    """Return the inputs and the labels of what a loader yields.

    Parameters
    ----------
    batch : tuple, list or mapping
        The last element of a tuple holds the labels, and the others are the arguments of the
        network; of a mapping, the entry called "label", "labels", "target", "targets" or "y".

    Returns
    -------
    Batch

    Raises
    ------
    TypeError, ValueError
        If there are no labels, or they are not one class number per sample.
    """
    if isinstance(batch, Mapping):
        key = next((key for key in KEYS if key in batch), None)
        if key is None:
            raise TypeError(
                f"a batch must have its labels under one of {', '.join(KEYS)}; got the keys "
                f"{', '.join(map(str, batch))}"
            )
        kwargs = {str(name): value for name, value in batch.items() if name != key}
        return Batch((), kwargs, _class_numbers(batch[key]))
    if isinstance(batch, Sequence) and not isinstance(batch, str) and len(batch) > 1:
        return Batch(tuple(batch[:-1]), {}, _class_numbers(batch[-1]))
    raise TypeError(
        "the loader must yield (inputs, labels), or a dict with the labels among its entries; got "
        f"{type(batch).__name__}"
    )


def _class_numbers(labels: Any) -> Tensor:
    numbers = torch.as_tensor(labels).detach().cpu()
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    whole = not numbers.is_floating_point() or bool((numbers == numbers.round()).all())
    if numbers.ndim != 1 or not whole or numbers.is_complex():
        raise ValueError(
            "labels must be one class number per sample; got shape "
            f"{tuple(numbers.shape)} and dtype {numbers.dtype}"
        )
    return numbers.to(torch.int64)


def _on(value: Any, device: torch.device) -> Any:
    return value.to(device, non_blocking=True) if isinstance(value, Tensor) else value


def layer_names(model: nn.Module) -> dict[nn.Linear, str]:
    """Return the linear layers of a network with their names, in the order of their definition.

    Parameters
    ----------
    model : nn.Module

    Returns
    -------
    dict of nn.Linear to str
    """
    return {module: name for name, module in model.named_modules() if isinstance(module, nn.Linear)}


def find_layer(
    model: nn.Module, layer: str | nn.Module, run: Callable[[], object]
) -> tuple[str, nn.Module]:
    """Return a layer of a network and its name.

    Parameters
    ----------
    model : nn.Module
    layer : str or nn.Module
        "auto" for the linear layer that is called last, the name of a layer, or the layer.
    run : callable
        Calls the network; for "auto".

    Returns
    -------
    name : str
    layer : nn.Module

    Raises
    ------
    ValueError
        If there is no such layer, or no linear layer is called.
    """
    linear = layer_names(model)
    names = ", ".join(map(repr, linear.values())) or "none"
    if isinstance(layer, nn.Module):
        for name, module in model.named_modules():
            if module is layer:
                return name, module
        raise ValueError("layer must be a layer of the model; got another module")
    if layer != "auto":
        named = dict(model.named_modules(remove_duplicate=False)).get(layer)
        if named is None or not layer:
            raise ValueError(
                f"layer must be 'auto' or the name of a layer; got {layer!r} (linear layers of the "
                f"model: {names})"
            )
        return layer, named
    called: list[nn.Linear] = []

    def record(module: nn.Module, _: object) -> None:
        if isinstance(module, nn.Linear):
            called.append(module)

    handles: list[RemovableHandle] = []
    try:
        handles.extend(module.register_forward_pre_hook(record) for module in linear)
        run()
    finally:
        for handle in handles:
            handle.remove()
    if not called:
        raise ValueError(
            f"no linear layer is called (linear layers of the model: {names}); pass the name of "
            "the layer whose inputs are the features, and the model as it was before "
            "torch.compile or torch.jit"
        )
    return linear[called[-1]], called[-1]


def replace_layer(model: nn.Module, old: nn.Module, new: nn.Module) -> None:
    """Put a layer in place of another wherever the network holds it.

    Parameters
    ----------
    model : nn.Module
    old, new : nn.Module

    Raises
    ------
    ValueError
        If the network is the layer itself, which cannot be replaced in place.
    """
    places = [name for name, module in model.named_modules(remove_duplicate=False) if module is old]
    if "" in places:
        raise ValueError(
            "the model is the layer itself: put it into nn.Sequential, or use IMMAXHead.fit"
        )
    for name in places:
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, new)
