"""The class weights of the samples of a batch."""

from __future__ import annotations

import torch
from torch import Tensor

from immax.torch.processes import Group, add_over_processes

__all__ = ["mean_weight"]


def mean_weight(
    target: Tensor, weight: Tensor, ignore_index: int = -100, group: Group = None
) -> Tensor:
    """Return the average class weight of the samples that count.

    Parameters
    ----------
    target : Tensor
        Class numbers of any shape, or class probabilities of shape (C,), (N, C) or (N, C, …).
    weight : Tensor of shape (C,)
        Class weights.
    ignore_index : int, default=-100
        The label of samples that do not count.
    group : ProcessGroup or "world", optional
        Processes whose samples count too.

    Returns
    -------
    Tensor
        A scalar; one if no sample counts.

    Examples
    --------
    >>> mean_weight(torch.tensor([0, 0, 1, -100]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    if target.is_floating_point():
        shares = target.movedim(0 if target.ndim == 1 else 1, -1)
        total = (shares @ weight.to(shares.dtype)).sum()
        count: Tensor | int = shares[..., 0].numel()
    else:
        counted = target != ignore_index
        count = counted.sum()
        total = (weight[target.where(counted, 0).long()] * counted).sum()
    if group is not None:
        total = add_over_processes(total, group, target)
        count = add_over_processes(count, group, target)
    count = torch.as_tensor(count, device=target.device)
    return torch.where(count > 0, total / count.clamp_min(1), torch.ones_like(total))
