"""Validation of arguments and labels, with errors that name what is wrong.

Shapes, types and devices are checked on every device. Values are read only where that is cheap
and possible: on a CPU, and not while a compiler or a transform traces the call.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = [
    "REDUCTIONS",
    "are_classes",
    "check_arguments",
    "check_class_numbers",
    "check_class_vector",
    "check_classes",
    "check_reduction",
    "class_indices",
    "is_readable",
    "is_traced",
]

REDUCTIONS = ("none", "mean", "sum")
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
PLAIN_TENSORS = (Tensor, torch.nn.Parameter)


def check_reduction(reduction: str) -> None:
    """Raise a ValueError unless the reduction is one of cross-entropy's.

    Parameters
    ----------
    reduction : str
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}; got {reduction!r}")


def check_arguments(
    logits: Tensor,
    target: Tensor,
    reduction: str,
    label_smoothing: float = 0.0,
    soft: bool = False,
) -> None:
    """Check the arguments that all losses of class numbers share, without reading a value.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores.
    target : Tensor of integers, shape (), (N,) or (N, d1, …)
        Labels. Where ``soft`` is true, also class probabilities of the logits' shape.
    reduction : str
        As in cross-entropy.
    label_smoothing : float, default=0.0
        As in cross-entropy.
    soft : bool, default=False
        Whether the loss takes class probabilities as targets.

    Raises
    ------
    TypeError
        If the labels are not integers.
    ValueError
        If anything else is wrong.
    """
    if reduction not in REDUCTIONS:
        check_reduction(reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"label_smoothing must be from 0 to 1; got {label_smoothing!r}")
    if target.dtype not in INTEGERS:
        _check_soft_target(logits, target, soft)
        return
    ndim = logits.ndim
    if ndim == 0 or not logits.is_floating_point():
        _refuse_logits(logits)
    shape, own = logits.shape, target.shape
    if ndim == 2:  # the most frequent case, without the cost of slices
        fits = len(own) == 1 and own[0] == shape[0]
    else:
        fits = own == (shape[:0] if ndim == 1 else shape[:1] + shape[2:])
    if not fits:
        expected = shape[:0] if ndim == 1 else shape[:1] + shape[2:]
        raise ValueError(
            f"target must have shape {tuple(expected)} to go with logits of shape "
            f"{tuple(shape)}; got {tuple(own)}"
        )
    if target.device != logits.device:
        _refuse_device(logits, target)


def _refuse_logits(logits: Tensor) -> None:
    raise ValueError(
        "logits must be floating-point, of shape (C), (N, C) or (N, C, d1, …); "
        f"got {logits.dtype} of shape {tuple(logits.shape)}"
    )


def _refuse_device(logits: Tensor, target: Tensor) -> None:
    raise ValueError(f"target must be on the logits' device, {logits.device}; got {target.device}")


def check_class_numbers(target: Tensor) -> None:
    """Raise a TypeError unless a target consists of integers.

    Parameters
    ----------
    target : Tensor
    """
    if target.dtype not in INTEGERS:
        raise TypeError(f"target must hold class numbers, as int64; got {target.dtype}")


def _check_soft_target(logits: Tensor, target: Tensor, supported: bool) -> None:
    """Check a target that does not consist of integers: class probabilities."""
    if not target.is_floating_point():
        check_class_numbers(target)
    if not supported:
        raise TypeError(
            f"target must hold class numbers, as int64; got {target.dtype} (class probabilities "
            "are for IMMAXLoss and the losses of the catalogue)"
        )
    if logits.ndim == 0 or not logits.is_floating_point():
        _refuse_logits(logits)
    if target.shape != logits.shape:
        raise ValueError(
            f"a target of {target.dtype} holds class probabilities, and must have the logits' "
            f"shape, {tuple(logits.shape)}; got {tuple(target.shape)}. Class numbers must be int64"
        )
    if target.device != logits.device:
        _refuse_device(logits, target)


def is_traced() -> bool:
    """Return whether a compiler, an exporter, a transform or a mode of dispatch is at work.

    Returns
    -------
    bool
    """
    return (
        torch.compiler.is_compiling()
        or torch._C._are_functorch_transforms_active()
        or torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack() > 0
    )


def is_readable(tensor: Tensor, traced: bool | None = None) -> bool:
    """Return whether values can be read without waiting for a device or breaking a trace.

    Parameters
    ----------
    tensor : Tensor
    traced : bool, optional
        The result of ``is_traced``, if the caller has it already.

    Returns
    -------
    bool
    """
    if not tensor.is_cpu or type(tensor) not in PLAIN_TENSORS:
        return False
    return not (is_traced() if traced is None else traced)


def _n_classes(logits: Tensor) -> int:
    return logits.shape[0] if logits.ndim == 1 else logits.shape[1] if logits.ndim else 0


def check_classes(logits: Tensor, n_classes: int) -> None:
    """Raise a ValueError unless there are as many logits as classes.

    Parameters
    ----------
    logits : Tensor of shape (N, C, …)
    n_classes : int
    """
    if torch._C._get_tracing_state() is not None:  # in torch.jit.trace, shapes are not numbers
        return
    classes = _n_classes(logits)
    if classes != n_classes:
        raise ValueError(f"logits have {classes} classes, the loss has {n_classes}")


def check_class_vector(
    vector: Tensor, name: str, logits: Tensor, n_classes: int | None = None
) -> None:
    """Check a tensor with one entry per class, without reading a value.

    Parameters
    ----------
    vector : Tensor
        The tensor to check.
    name : str
        The argument's name in error messages.
    logits : Tensor
        The tensor whose device it must be on.
    n_classes : int, optional
        The expected length; as many as there are logits by default.

    Raises
    ------
    TypeError
        If it is not a tensor.
    ValueError
        If its shape or device is wrong.
    """
    if not isinstance(vector, Tensor):
        raise TypeError(f"{name} must be a Tensor; got {type(vector).__name__}")
    if torch._C._get_tracing_state() is not None:
        return
    classes = _n_classes(logits) if n_classes is None else n_classes
    if vector.shape != (classes,):
        raise ValueError(
            f"{name} must have shape ({classes},), one number per class; got {tuple(vector.shape)}"
        )
    if vector.device != logits.device:
        raise ValueError(
            f"{name} must be on the logits' device, {logits.device}; got {vector.device}"
        )


def are_classes(target: Tensor, n_classes: int) -> bool:
    """Return whether all labels are class numbers.

    Parameters
    ----------
    target : Tensor of int64, not empty
        Labels that can be read.
    n_classes : int
        Labels go from 0 to ``n_classes - 1``.

    Returns
    -------
    bool
    """
    lowest, highest = target.aminmax()
    return bool(lowest.item() >= 0 and highest.item() < n_classes)


def class_indices(
    target: Tensor, n_classes: int, ignore_index: int, traced: bool | None = None
) -> Tensor:
    """Return labels that can index a column: class 0 in place of those to be ignored.

    Parameters
    ----------
    target : Tensor of int64
        Labels. Values are checked where they can be read; elsewhere the operation that indexes
        with them reports a label that is out of range, as the device does.
    n_classes : int
        Labels go from 0 to ``n_classes - 1``.
    ignore_index : int
        The label of samples that do not count.
    traced : bool, optional
        The result of ``is_traced``, if the caller has it already.

    Returns
    -------
    Tensor of int64
        ``target`` itself if no label is to be ignored.

    Raises
    ------
    IndexError
        If a label is neither a class nor ``ignore_index``.
    """
    if not is_readable(target, traced):
        if ignore_index < 0:
            return target.clamp_min(0)
        return target.masked_fill(target == ignore_index, 0)
    if target.numel() == 0:
        return target
    if not 0 <= ignore_index < n_classes and are_classes(target, n_classes):
        return target
    indices = target.masked_fill(target == ignore_index, 0)
    wrong = indices[(indices < 0) | (indices >= n_classes)]
    if wrong.numel():
        raise IndexError(
            f"target holds {int(wrong[0])}, which is out of bounds: classes go from 0 to "
            f"{n_classes - 1}, and ignore_index is {ignore_index}"
        )
    return indices
