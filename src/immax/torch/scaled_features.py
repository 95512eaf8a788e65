"""Features whose cross-entropy is the IMMAX loss, for fused and parallel implementations."""

from __future__ import annotations

import torch
from torch import Tensor

from immax.torch.checks import check_class_numbers, check_class_vector, class_indices
from immax.torch.column_checks import check_margins

__all__ = ["scale_features"]


def scale_features(
    features: Tensor,
    target: Tensor,
    rho: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    ignore_index: int = -100,
) -> tuple[Tensor, Tensor | None]:
    """Return features and weight of the last layer whose cross-entropy is the IMMAX loss.

    Every row of the features is divided by the margin of its label. With a bias, ``1 / rho_y`` is
    appended to the row and the bias to the weight, because the bias is divided too. Any function
    that computes the cross-entropy of ``features @ weight.T`` then computes IMMAX exactly, with
    the right gradients for features, weight and bias.

    Parameters
    ----------
    features : Tensor of shape (…, d)
        The inputs of the last layer.
    target : Tensor of int64, shape (…)
        Class numbers.
    rho : Tensor of shape (C,)
        The margins; positive.
    weight : Tensor of shape (C, d), optional
        The weight of the last layer; needed with a bias, and else returned as it is.
    bias : Tensor of shape (C,), optional
        The bias of the last layer.
    ignore_index : int, default=-100
        The label of samples that do not count.

    Returns
    -------
    features : Tensor of shape (…, d), or (…, d + 1) with a bias
    weight : Tensor of shape (C, d), or (C, d + 1) with a bias; None if there is none

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong; for a margin the message names the class.
    IndexError
        If a label is neither a class nor ``ignore_index``.

    Examples
    --------
    >>> import torch.nn.functional as F
    >>> from immax.torch.functional import immax_loss
    >>> x, layer = torch.ones(2, 3), torch.nn.Linear(3, 4)
    >>> y, rho = torch.tensor([0, 3]), torch.tensor([1.5, 1.0, 1.0, 0.5])
    >>> scaled, weight = scale_features(x, y, rho, layer.weight, layer.bias)
    >>> loss = F.cross_entropy(scaled @ weight.T, y)
    >>> torch.allclose(loss, immax_loss(layer(x), y, rho))
    True
    """
    check_margins(rho, features, len(rho))
    check_class_numbers(target)
    if target.shape != features.shape[:-1]:
        raise ValueError(
            f"target must have shape {tuple(features.shape[:-1])}; got {tuple(target.shape)}"
        )
    if weight is not None and weight.shape != (len(rho), features.shape[-1]):
        raise ValueError(
            f"weight must have shape ({len(rho)}, {features.shape[-1]}); got {tuple(weight.shape)}"
        )
    indices = class_indices(target.reshape(-1).long(), len(rho), ignore_index).view(target.shape)
    slopes = rho.to(features.dtype).reciprocal()[indices].unsqueeze(-1)
    scaled = features * slopes
    if bias is None:
        return scaled, weight
    if weight is None:
        raise ValueError("bias needs the weight that it is appended to")
    check_class_vector(bias, "bias", weight, len(weight))
    return torch.cat([scaled, slopes], -1), torch.cat([weight, bias.unsqueeze(1)], 1)
