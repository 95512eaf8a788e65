"""Classes that share a margin: the states of the chain by which scores become probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.jit._trace import TracerWarning

from immax.torch.checks import is_traced

__all__ = ["States", "current_states", "index_tensor"]


class States(NamedTuple):
    """A partition of the classes by the value of their margin.

    It consists of Python numbers, so that exporters take it for a constant.

    Attributes
    ----------
    margins : tuple of float
        The margin of each class at the time of the partition.
    first : tuple of int
        The first class of each state, in the order of the margins.
    order : tuple of int
        The classes, those of a state next to each other.
    sizes : tuple of int
        The number of classes of each state.
    """

    margins: tuple[float, ...]
    first: tuple[int, ...]
    order: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, margins: Tensor | None, n_classes: int | None = None) -> States:
        """Return the partition of margins whose values can be read.

        Parameters
        ----------
        margins : Tensor of shape (C,), or None
            The margins; None stands for ones.
        n_classes : int, optional
            The number of classes, where ``margins`` is None.

        Returns
        -------
        States
        """
        values = [1.0] * (n_classes or 1) if margins is None else margins.detach().tolist()
        members: dict[float, list[int]] = {}
        for k, value in enumerate(values):
            members.setdefault(value, []).append(k)
        parts = [members[value] for value in sorted(members)]
        return cls(
            tuple(values),
            tuple(part[0] for part in parts),
            tuple(k for part in parts for k in part),
            tuple(len(part) for part in parts),
        )

    @classmethod
    def separate(cls, n_classes: int) -> States:
        """Return the partition with a state for each class, which is right for all margins.

        Parameters
        ----------
        n_classes : int
            The number of classes.

        Returns
        -------
        States
        """
        each = tuple(range(n_classes))
        return cls((), each, each, (1,) * n_classes)

    @property
    def state_of_class(self) -> list[int]:
        """The state of each class."""
        state = [0] * len(self.order)
        begin = 0
        for number, size in enumerate(self.sizes):
            for k in self.order[begin : begin + size]:
                state[k] = number
            begin += size
        return state


def current_states(margins: Tensor | None, known: States | None = None) -> States | None:
    """Return the states of margins as they are now.

    Parameters
    ----------
    margins : Tensor of shape (C,), or None
        None stands for margins that are all one, whatever the number of classes.
    known : States, optional
        The partition when the margins were set last. Under a compiler or an exporter, which
        cannot read values, it is the result.

    Returns
    -------
    States, or None if there is one state
    """
    if margins is None:
        return None
    if is_traced() or margins.is_meta:
        return known or States.separate(margins.shape[0])
    if known is not None and known.margins == tuple(margins.detach().tolist()):
        return known
    return States.of(margins)


def index_tensor(numbers: Sequence[int], like: Tensor) -> Tensor:
    """Return class numbers as a tensor, which exporters take for a constant.

    Parameters
    ----------
    numbers : sequence of int
    like : Tensor
        The tensor whose device it is on.

    Returns
    -------
    Tensor of int64
    """
    if torch._C._get_tracing_state() is None:
        return torch.tensor(numbers, device=like.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)  # a constant is what is meant
        return torch.tensor(numbers, device=like.device)
