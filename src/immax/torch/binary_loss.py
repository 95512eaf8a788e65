"""IMMAX for two classes on one logit, as a module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.types import Device

from immax.torch.count_states import CountsInState
from immax.torch.counts import Counts, Data, counts_of
from immax.torch.decisions import RuleLike, decide, decide_by_rule, rule_of
from immax.torch.margins import count_margins
from immax.torch.processes import Group
from immax.torch.surrogates import BINARY_LOSSES, immax_binary_loss

__all__ = ["IMMAXBinaryLoss"]


class IMMAXBinaryLoss(CountsInState):
    """IMMAX of two classes on one logit, in place of ``nn.BCEWithLogitsLoss``.

    ``Psi(h / rho_1)`` for a target of 1 and ``Psi(-h / rho_0)`` for 0, where Psi is
    ``log(1 + e^{-u})`` unless ``loss`` says otherwise.

    Parameters
    ----------
    counts : array-like of shape (2,), or dict from class number to count, optional
        The counts of class 0 and class 1.
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
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
        Psi. The scores of the hinge do not determine probabilities.
    labels, dataset, minimum, radii, group
        As in ``IMMAXLoss``.

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
        counts: Counts | None = None,
        alpha: float | None = None,
        total: float | Literal["mean"] | None = None,
        power: float = 1 / 3,
        weight: Tensor | None = None,
        reduction: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        loss: Literal["logistic", "hinge", "exponential"] = "logistic",
        labels: Tensor | ArrayLike | None = None,
        dataset: Data | None = None,
        minimum: float | None = None,
        radii: ArrayLike | Tensor | None = None,
        group: Group = None,
    ) -> None:
        super().__init__()
        n_classes = None if labels is None and dataset is None else 2
        numbers = counts_of(counts, labels, dataset, n_classes, minimum)
        if (numbers is None) == (alpha is None):
            raise ValueError("one of counts, labels, dataset and alpha must be given")
        if loss not in BINARY_LOSSES:
            raise ValueError(f"loss must be one of {', '.join(BINARY_LOSSES)}; got {loss!r}")
        if alpha is not None:
            if not 0 < alpha < 1:
                raise ValueError(f"alpha must be strictly between 0 and 1; got {alpha!r}")
            margins = count_margins([1 - alpha, alpha], total=total, power=1.0)
        else:
            margins = count_margins(numbers, total=total, power=power, radii=radii)
        if margins.size != 2:
            raise ValueError(f"counts must be those of two classes; got {margins.size}")
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer("rho", torch.tensor(margins, device=device, dtype=dtype))
        self.register_buffer("weight", weight)
        self.reduction = reduction
        self.loss = loss
        self.group = group
        self.counts = None if numbers is None else tuple(numbers.tolist())

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor of any shape
            Scores of class 1.
        target : Tensor of the logits' shape
            Labels, from 0 to 1.

        Returns
        -------
        Tensor
            A scalar, or of the logits' shape without a reduction.

        Raises
        ------
        TypeError, ValueError
            If an argument is wrong.
        """
        return immax_binary_loss(
            logits,
            target,
            self.rho,
            self._buffers["weight"],
            self.reduction,
            self.loss,
            self.group,
        )

    def _load_from_state_dict(self, state: Mapping[str, Tensor], prefix: str, *args: Any) -> None:
        if any(name.startswith(prefix) for name in state):  # none in that of nn.BCEWithLogitsLoss
            super()._load_from_state_dict(state, prefix, *args)

    def _log_odds(self, logits: Tensor) -> Tensor:
        """Return the logarithm of ``P_1 / P_0``."""
        rho = self.rho.to(logits.dtype)
        prior = rho[1].log() - rho[0].log()
        if self.loss == "exponential":
            return logits / rho[1] + logits / rho[0] + prior
        if self.loss == "hinge":
            raise ValueError("the hinge does not determine probabilities: calibrate its scores")
        rise = nn.functional.softplus(logits / rho[1], threshold=1e9)
        fall = nn.functional.softplus(-logits / rho[0], threshold=1e9)
        return rise - fall + prior

    @torch.no_grad()
    def log_proba(self, logits: Tensor) -> Tensor:
        """Return the logarithm of the probability of class 1 by the exact link.

        Parameters
        ----------
        logits : Tensor of any shape
            Scores ``h`` of class 1.

        Returns
        -------
        Tensor
            Of the logits' shape.
        """
        return nn.functional.logsigmoid(self._log_odds(logits))

    @torch.no_grad()
    def proba(self, logits: Tensor) -> Tensor:
        """Return the probability of class 1 by the exact link.

        With the margins as they are, ``P_1 : P_0`` is
        ``rho_1 (1 + e^{h / rho_1}) : rho_0 (1 + e^{-h / rho_0})`` for the logistic loss and
        ``rho_1 e^{h / rho_1} : rho_0 e^{-h / rho_0}`` for the exponential one.

        Parameters
        ----------
        logits : Tensor of any shape
            Scores ``h`` of class 1.

        Returns
        -------
        Tensor
            Of the logits' shape.
        """
        return torch.sigmoid(self._log_odds(logits))

    def predict(
        self, logits: Tensor, rule: RuleLike = "score", costs: ArrayLike | Tensor | None = None
    ) -> Tensor:
        """Predict class 0 or 1.

        Parameters
        ----------
        logits : Tensor of shape (N,) or (N, d1, …)
            Scores of class 1.
        rule : {"score", "bayes"}, Rule, Aim or name of an aim, default="score"
            The sign of the logit, or the others as in ``IMMAXLoss.predict``.
        costs : array-like of shape (2,) or (2, 2), optional
            As in ``IMMAXLoss.predict``.

        Returns
        -------
        Tensor of int64
            Of the logits' shape.
        """
        by_name = isinstance(rule, str)
        if by_name and rule == "score" and costs is None:
            return (logits >= 0).long()
        p = self.proba(logits)
        if by_name and rule == "bayes":
            return decide(torch.stack([1 - p, p], 1), costs)
        if costs is not None:
            raise ValueError(f"rule must be 'bayes' where there are costs; got {rule!r}")
        return decide_by_rule(torch.stack([1 - p, p], 1), rule_of(rule, 2, self.counts))
