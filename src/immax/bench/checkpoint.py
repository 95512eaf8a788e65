"""States of a training that survive its death: written beside, and renamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from immax.atomic import replacing

__all__ = ["load_checkpoint", "save_checkpoint"]


def save_checkpoint(
    path: Path, network: dict[str, Any], optimiser: dict[str, Any], state: dict[str, Any]
) -> None:
    """Tensors by safetensors, everything else as JSON in its header.

    Parameters
    ----------
    path : Path
    network : dict of Tensor
        ``state_dict`` of the network.
    optimiser : dict
        ``state_dict`` of the optimiser.
    state : dict
        Of tensors (states of generators), and of what JSON can hold.
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


def load_checkpoint(path: Path, network: Any, optimiser: Any) -> dict[str, Any] | None:
    """Put network and optimiser where they were; their state, or None if there is nothing.

    A file that cannot be read counts as nothing: the training begins anew.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            state: dict[str, Any] = json.loads(file.metadata()["state"])
    except (FileNotFoundError, SafetensorError, KeyError, TypeError, ValueError):
        return None
    network.load_state_dict(
        {name[8:]: value for name, value in tensors.items() if name.startswith("network.")}
    )
    buffers: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, number, key = name.split(".", 2)
            buffers.setdefault(int(number), {})[key] = value
        if name.startswith("state."):
            state[name[6:]] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": buffers, "param_groups": groups})
    return state
