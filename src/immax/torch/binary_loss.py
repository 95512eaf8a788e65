"""IMMAX for two classes on one logit, as a module."""

from __future__ import annotations

from typing import Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.types import Device

from immax.torch import links
from immax.torch.counts import LabelSource
from immax.torch.margins import count_margins
from immax.torch.surrogates import immax_binary_loss

__all__ = ["IMMAXBinaryLoss"]


class IMMAXBinaryLoss(nn.Module):
    """Logistic IMMAX of two classes on one logit, in place of ``nn.BCEWithLogitsLoss``.

    ``log(1 + e^{-h / rho_1})`` for a target of 1 and ``log(1 + e^{h / rho_0})`` for 0.

    Parameters
    ----------
    counts : array-like of shape (2,), Dataset or array of labels, optional
        The counts of class 0 and class 1, or labels to be counted.
    alpha : float, optional
        ``rho_1 / (rho_0 + rho_1)``, the paper's parameter, in place of counts.
    total : float, optional
        The sum of the two margins. By default their mean is one, and ``alpha = 1/2`` is binary
        cross-entropy; 1 is the paper's scaling.
    power : float, default=1/3
        Margins are proportional to ``count^power``.
    weight : Tensor, optional
        Broadcasts against the losses.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in ``nn.BCEWithLogitsLoss``.
    device : device, optional
        The device of the margins.
    dtype : dtype, optional
        The precision of the margins; PyTorch's default by default.

    Examples
    --------
    >>> criterion = IMMAXBinaryLoss(counts=[800, 100])
    >>> criterion.rho
    tensor([1.3333, 0.6667])
    >>> criterion.proba(torch.tensor([0.0]))
    tensor([0.3333])
    """

    rho: Tensor

    def __init__(
        self,
        counts: LabelSource | None = None,
        alpha: float | None = None,
        total: float | Literal["mean"] | None = None,
        power: float = 1 / 3,
        weight: Tensor | None = None,
        reduction: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if (counts is None) == (alpha is None):
            raise ValueError("one of counts and alpha must be given")
        if alpha is not None:
            if not 0 < alpha < 1:
                raise ValueError(f"alpha must be strictly between 0 and 1; got {alpha!r}")
            margins = count_margins([1 - alpha, alpha], total=total, power=1.0)
        else:
            margins = count_margins(counts, total=total, power=power)
        if margins.size != 2:
            raise ValueError(f"counts must be those of two classes; got {margins.size}")
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer("rho", torch.tensor(margins, device=device, dtype=dtype))
        self.register_buffer("weight", weight)
        self.reduction = reduction

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return immax_binary_loss(logits, target, self.rho, self._buffers["weight"], self.reduction)

    @torch.no_grad()
    def proba(self, logits: Tensor) -> Tensor:
        """Return the probability of class 1 by the exact link.

        ``P_1 : P_0 = rho_1 (1 + e^{h / rho_1}) : rho_0 (1 + e^{-h / rho_0})``, with the margins
        as they are.

        Parameters
        ----------
        logits : Tensor of any shape
            Scores ``h`` of class 1.

        Returns
        -------
        Tensor
            Of the logits' shape.
        """
        rho = self.rho.to(logits.dtype)
        rise = nn.functional.softplus(logits / rho[1], threshold=1e9)
        fall = nn.functional.softplus(-logits / rho[0], threshold=1e9)
        return torch.sigmoid(rise - fall + rho[1].log() - rho[0].log())

    def predict(
        self, logits: Tensor, rule: str = "score", costs: ArrayLike | Tensor | None = None
    ) -> Tensor:
        """Predict class 0 or 1.

        Parameters
        ----------
        logits : Tensor of shape (N,) or (N, d1, …)
            Scores of class 1.
        rule : {"score", "bayes"}, default="score"
            The sign of the logit, or the least expected cost.
        costs : array-like of shape (2,) or (2, 2), optional
            As in ``IMMAXLoss.predict``.

        Returns
        -------
        Tensor of int64
            Of the logits' shape.
        """
        if rule == "score" and costs is None:
            return (logits >= 0).long()
        if rule != "bayes":
            raise ValueError(f"rule must be 'score' (without costs) or 'bayes'; got {rule!r}")
        p = self.proba(logits)
        return links.decide(torch.stack([1 - p, p], 1), costs)
