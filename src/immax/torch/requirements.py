"""The functions of PyTorch that are not public and that these losses need."""

from __future__ import annotations

from functools import reduce

import torch

__all__ = ["PRIVATE_NAMES", "check_torch"]

TESTED = "2.13.0"
PRIVATE_NAMES = (
    "_C._are_functorch_transforms_active",
    "_C._functorch",
    "_C._get_tracing_state",
    "_C._len_torch_dispatch_stack",
    "_C._nn.cross_entropy_loss",
    "compiler.is_compiling",
    "jit._trace.TracerWarning",
)
"""Names within ``torch`` that another release may lack."""


def check_torch(names: tuple[str, ...] = PRIVATE_NAMES) -> None:
    """Check that this release of PyTorch has what the losses need.

    Parameters
    ----------
    names : tuple of str
        Names within ``torch``.

    Raises
    ------
    ImportError
        If a name is missing.
    """
    for name in names:
        try:
            reduce(getattr, name.split("."), torch)
        except AttributeError:
            raise ImportError(
                f"immax.torch needs torch.{name}, which PyTorch {torch.__version__} does not have; "
                f"it was tested with {TESTED}"
            ) from None
