"""Checkpoints of a training, written atomically."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from immax.atomic import replacing

__all__ = ["load_checkpoint", "save_checkpoint"]

StateDict: TypeAlias = dict[str, Any]  # as PyTorch's ``state_dict`` returns it


def save_checkpoint(
    path: Path, network: StateDict, optimiser: StateDict, state: dict[str, Tensor | int]
) -> None:
    """Save the state of a training: tensors by safetensors, everything else in its header.

    Parameters
    ----------
    path : Path
    network : dict of Tensor
        ``state_dict`` of the network.
    optimiser : dict
        ``state_dict`` of the optimiser.
    state : dict of Tensor or int
        Tensors (states of generators), and values that JSON can hold.
    """
    tensors = {f"network.{name}": value for name, value in network.items()}
    for number, own in optimiser["state"].items():
        for name, value in own.items():
            if isinstance(value, torch.Tensor):
                tensors[f"optimiser.{number}.{name}"] = value
    plain = {}
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            tensors[f"state.{name}"] = value
        else:
            plain[name] = value
    with replacing(path) as part:
        save_file(
            {name: value.detach().cpu().contiguous() for name, value in tensors.items()},
            part,
            metadata={"state": json.dumps(plain)},
        )


def load_checkpoint(
    path: Path, network: nn.Module, optimiser: torch.optim.Optimizer
) -> StateDict | None:
    """Restore a network and its optimiser.

    Parameters
    ----------
    path : Path
    network : nn.Module
    optimiser : torch.optim.Optimizer

    Returns
    -------
    dict or None
        The ``state`` that was saved; None if there is no file, or none that can be read: then the
        training starts from the beginning.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            state: StateDict = json.loads(file.metadata()["state"])
    except (FileNotFoundError, SafetensorError, KeyError, TypeError, ValueError):
        return None
    network.load_state_dict(
        {name[8:]: value for name, value in tensors.items() if name.startswith("network.")}
    )
    buffers: dict[int, StateDict] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, number, key = name.split(".", 2)
            buffers.setdefault(int(number), {})[key] = value
        if name.startswith("state."):
            state[name[6:]] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": buffers, "param_groups": groups})
    return state
