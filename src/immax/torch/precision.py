"""The precision in which a loss is computed, and that of its result."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["autocast_on", "result_dtype", "working_dtype"]


def autocast_on(tensor: Tensor) -> bool:
    """Return whether mixed precision is on for the tensor's device."""
    if tensor.is_cpu:  # without the cost of a device's name
        return torch.is_autocast_enabled("cpu")
    kind = tensor.device.type
    return kind != "meta" and torch.is_autocast_enabled(kind)


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return the precision of the computation: half precision is for storage."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def result_dtype(logits: Tensor) -> torch.dtype:
    """Return the precision of the result.

    It is that of the logits, and under mixed precision that of the computation, as in
    cross-entropy.
    """
    return working_dtype(logits.dtype) if autocast_on(logits) else logits.dtype
