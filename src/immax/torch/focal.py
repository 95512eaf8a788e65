"""The focal loss as a function of ``nll = -log p``, by differentiable operations of PyTorch."""

from __future__ import annotations

from torch import Tensor, expm1

from immax.losses.focal import SMALLEST_PROBABILITY

__all__ = ["focal_loss_of", "focal_terms"]


def focal_loss_of(nll: Tensor, focus: float) -> Tensor:
    """Return the focal loss ``(1 - p)^focus nll`` of each sample.

    Parameters
    ----------
    nll : Tensor
        ``-log p`` of each sample's target.
    focus : float
        The focal exponent, above zero.

    Returns
    -------
    Tensor
        Of the same shape.
    """
    return _rest(nll).pow(focus) * nll


def focal_terms(nll: Tensor, focus: float) -> tuple[Tensor, Tensor]:
    """Return the focal loss of each sample, and its derivative in ``nll``.

    Parameters
    ----------
    nll : Tensor
        ``-log p`` of each sample's target.
    focus : float
        The focal exponent, above zero.

    Returns
    -------
    loss, slope : Tensors of the same shape
    """
    rest = _rest(nll)
    power = rest.pow(focus)
    return power * nll, power * (1 + focus * (1 - rest) * (nll / rest))


def _rest(nll: Tensor) -> Tensor:
    """Return ``1 - p``, bounded from below because powers have no slope at zero."""
    return (-expm1(-nll)).clamp_min(SMALLEST_PROBABILITY)
