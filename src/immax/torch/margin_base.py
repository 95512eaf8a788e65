"""The base classes of the losses with a margin for each class."""

from __future__ import annotations

from typing import Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.types import Device

from immax.torch import links
from immax.torch.checks import check_class_vector
from immax.torch.class_loss import ClassLoss
from immax.torch.column_checks import check_margins
from immax.torch.counts import LabelSource
from immax.torch.margins import count_margins

__all__ = ["MarginLoss", "ProbabilityLoss"]


class MarginLoss(ClassLoss):
    """A loss with a margin for each class, fixed or learnt.

    Parameters
    ----------
    counts, rho, total, power, groups, learnable, weight, ignore_index, reduction, device, dtype
        As in ``IMMAXLoss``.
    """

    fixed_rho: Tensor
    total: Tensor

    def __init__(
        self,
        counts: LabelSource | None = None,
        rho: ArrayLike | Tensor | None = None,
        total: float | Literal["mean"] | None = None,
        power: float = 1 / 3,
        groups: int | ArrayLike | Tensor | None = None,
        learnable: bool = False,
        weight: ArrayLike | Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, device, dtype)
        margins = count_margins(counts, rho, total, power, groups)
        tensor = torch.tensor(margins, device=device, dtype=dtype or torch.get_default_dtype())
        check_margins(tensor, tensor)  # a small margin may vanish in the buffer's precision
        self.learnable = learnable
        if learnable:
            self.log_rho = nn.Parameter(tensor.log())
            self.register_buffer("total", tensor.sum())
        else:
            self.register_buffer("fixed_rho", tensor)

    @property
    def rho(self) -> Tensor:
        """The margins, shape (C,). Learnt margins keep their sum.

        Fixed margins can be edited in place or assigned; what they are when the loss is called
        is what counts.
        """
        return self.total * torch.softmax(self.log_rho, 0) if self.learnable else self.fixed_rho

    @rho.setter
    def rho(self, rho: Tensor) -> None:
        if self.learnable:
            raise ValueError("learnt margins cannot be set")
        check_margins(rho, self.fixed_rho, len(self.fixed_rho))
        self.fixed_rho = rho

    def set_margins(self, rho: Tensor) -> None:
        """Change fixed margins in place, for example on a schedule.

        Parameters
        ----------
        rho : Tensor of shape (C,)
            The new margins.

        Raises
        ------
        ValueError
            If the margins are learnt.
        """
        if self.learnable:
            raise ValueError("learnt margins cannot be set")
        with torch.no_grad():
            self.fixed_rho.copy_(rho)

    def extra_repr(self) -> str:
        classes = len(self.log_rho if self.learnable else self.fixed_rho)
        kind = "learnable" if self.learnable else "fixed"
        return f"classes={classes}, {kind} margins, reduction={self.reduction!r}"

    def predict(self, logits: Tensor) -> Tensor:
        """Predict the class of the highest logit; the highest class number on a tie.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.

        Returns
        -------
        Tensor of int64, shape (), (N,) or (N, d1, …)
        """
        if logits.ndim == 1:
            return links.highest_argmax(logits.unsqueeze(0)).squeeze(0)
        return links.highest_argmax(logits)


class ProbabilityLoss(MarginLoss):
    """A loss with margins whose scores determine the class probabilities."""

    link: Literal["logistic", "exponential"] = "logistic"

    @torch.no_grad()
    def proba(self, logits: Tensor) -> Tensor:
        """Return class probabilities by the exact link.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.

        Returns
        -------
        Tensor
            Of the logits' shape.
        """
        check_class_vector(self.rho, "rho", logits)
        return links.immax_proba(logits, self.rho, self.link)

    def predict(
        self, logits: Tensor, rule: str = "score", costs: ArrayLike | Tensor | None = None
    ) -> Tensor:
        """Predict classes.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        rule : {"score", "bayes"}, default="score"
            The highest logit, or the least expected cost.
        costs : array-like of shape (C,) or (C, C), optional
            For the "bayes" rule: the cost of an error on each class, or at (k, j) the cost of
            predicting j when k is true. Equal by default.

        Returns
        -------
        Tensor of int64, shape (), (N,) or (N, d1, …)
            The highest class number on a tie.
        """
        if rule == "score" and costs is None:
            return super().predict(logits)
        if rule != "bayes":
            raise ValueError(f"rule must be 'score' (without costs) or 'bayes'; got {rule!r}")
        if logits.ndim == 1:
            return links.decide(self.proba(logits).unsqueeze(0), costs).squeeze(0)
        return links.decide(self.proba(logits), costs)
