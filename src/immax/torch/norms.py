"""Norms of a network, for the paper's ``Lambda_H``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

__all__ = ["frobenius_complexity", "spectral_complexity"]


def _matrices(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of linear and convolutional layers as matrices, a row per output."""
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            yield name, module.weight.detach().flatten(1).double()


def frobenius_complexity(model: nn.Module) -> float:
    """Return ``sqrt(2) 2^(L-1) prod_l ||W_l||_F`` for L layers.

    With this as Lambda, the Rademacher complexity of ReLU networks with one output and no biases
    is at most ``Lambda r / sqrt(m)`` (Neyshabur, Tomioka and Srebro 2015, Theorem 1 with
    p = q = 2). A convolution counts as the matrix of its filters, which is a convention and not
    the norm of its operator.

    Parameters
    ----------
    model : nn.Module
        A network; its linear and convolutional layers count.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the network has no such layer.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 2, bias=False))
    >>> _ = nn.init.eye_(model[0].weight)
    >>> round(frobenius_complexity(model), 6)
    2.0
    """
    norms = [float(torch.linalg.matrix_norm(W)) for _, W in _matrices(model)]
    if not norms:
        raise ValueError("the model has no linear or convolutional layer")
    return math.sqrt(2) * 2 ** (len(norms) - 1) * math.prod(norms)


def spectral_complexity(model: nn.Module, reference: Mapping[str, Tensor] | None = None) -> float:
    """Return ``prod_l ||W_l||_2 (sum_l (||W_l^T - M_l^T||_{2,1} / ||W_l||_2)^{2/3})^{3/2}``.

    This is the spectral complexity of Bartlett, Foster and Telgarsky (2017), up to its logarithmic
    factors, for 1-Lipschitz activations; ``||A||_{2,1}`` is the sum of the norms of A's columns.

    Parameters
    ----------
    model : nn.Module
        A network; its linear and convolutional layers count.
    reference : mapping of layer name to weight, optional
        The matrices M_l, for example the weights at initialisation; zero by default.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the network has no such layer.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 2, bias=False))
    >>> _ = nn.init.eye_(model[0].weight)
    >>> round(spectral_complexity(model), 6)
    2.0
    """
    product, total, layers = 1.0, 0.0, 0
    for name, W in _matrices(model):
        M = torch.zeros_like(W) if reference is None else reference[name].detach().flatten(1).to(W)
        largest = float(torch.linalg.matrix_norm(W, ord=2))
        product *= largest
        layers += 1
        if largest > 0:
            total += (float((W - M).norm(dim=1).sum()) / largest) ** (2 / 3)
    if not layers:
        raise ValueError("the model has no linear or convolutional layer")
    return product * total**1.5
