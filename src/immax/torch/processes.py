"""Sums over the processes that train together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

__all__ = ["Group", "add_over_processes", "group_size", "process_group"]

Group: TypeAlias = "ProcessGroup | Literal['world'] | None"
"""A group of processes, "world" for all of them, or None for this process alone."""


def process_group(group: Group) -> ProcessGroup | None:
    """Return the group that an argument refers to; None if there is only this process.

    Parameters
    ----------
    group : ProcessGroup, "world" or None

    Returns
    -------
    ProcessGroup or None

    Raises
    ------
    RuntimeError
        If processes are asked for that have not been started.
    ValueError
        If it is something else.
    """
    if group is None:
        return None
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            f"group={group!r} needs processes: call torch.distributed.init_process_group first, or "
            "leave group out for a mean over this process"
        )
    if isinstance(group, str):
        if group != "world":
            raise ValueError(f"group must be a ProcessGroup or 'world'; got {group!r}")
        return dist.group.WORLD
    return group


def group_size(group: Group) -> int:
    """Return the number of processes.

    Parameters
    ----------
    group : ProcessGroup, "world" or None

    Returns
    -------
    int
    """
    return 1 if group is None else dist.get_world_size(process_group(group))


def add_over_processes(value: Tensor | float, group: Group, like: Tensor) -> Tensor:
    """Return the sum of a number over the processes; no gradient flows through it.

    Parameters
    ----------
    value : Tensor or float
        The number of this process.
    group : ProcessGroup or "world"
        The processes.
    like : Tensor
        The tensor whose device the communication uses.

    Returns
    -------
    Tensor
        A scalar in double precision, which counts exactly.
    """
    total = torch.as_tensor(value, dtype=torch.float64, device=like.device).detach().clone()
    dist.all_reduce(total, group=process_group(group))
    return total
