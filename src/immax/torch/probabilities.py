"""The common part of the losses whose scores determine probabilities."""

from __future__ import annotations

from abc import abstractmethod

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from immax.torch.decisions import RuleLike, decide, decide_by_rule, highest_argmax, rule_of

__all__ = ["Probabilities"]


class Probabilities:
    """Class probabilities and decisions from logits.

    Attributes
    ----------
    counts : tuple of float, or None
        The class counts that the loss was made with, if it was.
    """

    counts: tuple[float, ...] | None = None

    @abstractmethod
    def _log_proba(self, logits: Tensor) -> Tensor:
        """Return the logarithms of the class probabilities."""

    @torch.no_grad()
    def log_proba(self, logits: Tensor) -> Tensor:
        """Return the logarithms of the class probabilities by the exact link.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.

        Returns
        -------
        Tensor
            Of the logits' shape.
        """
        return self._log_proba(logits)

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
        return self._log_proba(logits).exp()

    def predict(
        self, logits: Tensor, rule: RuleLike = "score", costs: ArrayLike | Tensor | None = None
    ) -> Tensor:
        """Predict classes.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        rule : {"score", "bayes"}, Rule, Aim or name of an aim, default="score"
            The highest logit; the least expected cost; the decisions of a rule, such as that of
            ``immax.decisions.fit_rule``; or those that an aim with a closed form calls for, such
            as ``"balanced_accuracy"`` or ``immax.decisions.Costs([1, 20])``.
        costs : array-like of shape (C,) or (C, C), optional
            For the "bayes" rule: the cost of an error on each class, or at (k, j) the cost of
            predicting j when k is true. Equal by default.

        Returns
        -------
        Tensor of int64, shape (), (N,) or (N, d1, …)
            The highest class number on a tie; C where a rule abstains.

        Raises
        ------
        ValueError
            If the aim has no closed form, or needs class counts that the loss does not have.
        """
        if logits.ndim == 1:
            return self.predict(logits.unsqueeze(0), rule, costs).squeeze(0)
        by_name = isinstance(rule, str)
        if by_name and rule == "score" and costs is None:
            return highest_argmax(logits)
        if by_name and rule == "bayes":
            return decide(self.proba(logits), costs)
        if costs is not None:
            raise ValueError(f"rule must be 'bayes' where there are costs; got {rule!r}")
        return decide_by_rule(self.proba(logits), rule_of(rule, logits.shape[1], self.counts))
