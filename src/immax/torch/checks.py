"""Errors in the words of the caller."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = [
    "check_arguments",
    "check_class_vector",
    "check_classes",
    "check_margins",
    "check_reduction",
    "explain_range",
    "readable",
]

REDUCTIONS = ("none", "mean", "sum")
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_reduction(reduction: str) -> None:
    """One of those of cross-entropy."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}; got {reduction!r}")


def check_arguments(
    logits: Tensor, target: Tensor, reduction: str, label_smoothing: float = 0.0
) -> None:
    """Shapes and types, which cost nothing to check on any device."""
    check_reduction(reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"label_smoothing must be from 0 to 1; got {label_smoothing!r}")
    if target.dtype not in INTEGERS:
        raise TypeError(
            f"target must hold class numbers, as int64; got {target.dtype} "
            "(class probabilities are not supported)"
        )
    if logits.ndim == 0 or not logits.is_floating_point():
        raise ValueError(
            "logits must be floating-point, of shape (C), (N, C) or (N, C, d1, …); "
            f"got {logits.dtype} of shape {tuple(logits.shape)}"
        )
    shape = logits.shape
    expected = shape[:0] if logits.ndim == 1 else shape[:1] + shape[2:]
    if target.shape != expected:
        raise ValueError(
            f"target must have shape {tuple(expected)} to go with logits of shape "
            f"{tuple(shape)}; got {tuple(target.shape)}"
        )
    if target.device != logits.device:
        raise ValueError(
            f"target must be on the logits' device, {logits.device}; got {target.device}"
        )


def readable(tensor: Tensor) -> bool:
    """Whether values may be looked at: on a CPU, and not under a compiler or a transform."""
    return (
        not torch.compiler.is_compiling()
        and tensor.is_cpu
        and not torch._C._are_functorch_transforms_active()
    )


def _classes(logits: Tensor) -> int:
    return logits.shape[0] if logits.ndim == 1 else logits.shape[1] if logits.ndim else 0


def check_classes(logits: Tensor, n_classes: int) -> None:
    """As many logits as there are classes."""
    classes = _classes(logits)
    if classes != n_classes:
        raise ValueError(f"logits have {classes} classes, the loss has {n_classes}")


def check_margins(rho: Tensor, logits: Tensor, n_classes: int | None = None) -> None:
    """A positive margin for each class, on the logits' device."""
    check_class_vector(rho, "rho", logits, n_classes)
    if readable(rho) and not (rho > 0).all():
        raise ValueError(f"rho must be positive; got {rho.tolist()}")


def check_class_vector(
    vector: Tensor, name: str, logits: Tensor, n_classes: int | None = None
) -> None:
    """A tensor with one entry per class, on the logits' device.

    There are as many classes as logits, if it is not said otherwise.
    """
    if not isinstance(vector, Tensor):
        raise TypeError(f"{name} must be a Tensor; got {type(vector).__name__}")
    classes = _classes(logits) if n_classes is None else n_classes
    if vector.shape != (classes,):
        raise ValueError(
            f"{name} must have shape ({classes},), one number per class; got {tuple(vector.shape)}"
        )
    if vector.device != logits.device:
        raise ValueError(
            f"{name} must be on the logits' device, {logits.device}; got {vector.device}"
        )


def explain_range(target: Tensor, classes: int, ignore_index: int) -> None:
    """Raise an IndexError if a label is no class. Reads the labels: for use after a failure."""
    bad = (target != ignore_index) & ((target < 0) | (target >= classes))
    if bad.any():
        raise IndexError(
            f"target holds {int(target[bad][0])}, which is out of bounds: classes go from 0 to "
            f"{classes - 1}, and ignore_index is {ignore_index}"
        )
