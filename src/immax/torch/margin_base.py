"""The base classes of the losses with a margin for each class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.types import Device

from immax.torch.checks import check_class_vector, is_traced
from immax.torch.class_loss import ClassLoss
from immax.torch.column_checks import check_margins
from immax.torch.counts import Counts, Data, counts_of
from immax.torch.decisions import RuleLike, highest_argmax
from immax.torch.links import immax_log_proba
from immax.torch.margins import count_margins
from immax.torch.probabilities import Probabilities
from immax.torch.processes import Group
from immax.torch.states import States, current_states

__all__ = ["MarginLoss", "ProbabilityLoss"]

FAR_FROM_ONE = 9.99  # mean margins beyond this factor change the size of gradients a lot


class MarginLoss(ClassLoss):
    """A loss with a margin for each class, fixed or learnt.

    Parameters
    ----------
    counts, rho, total, power, groups, learnable, weight, ignore_index, reduction, device, dtype
        As in ``IMMAXLoss``.
    labels, dataset, num_classes, minimum, radii, group
        As in ``IMMAXLoss``.
    """

    fixed_rho: Tensor
    total: Tensor

    def __init__(
        self,
        counts: Counts | None = None,
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
        *,
        labels: Tensor | ArrayLike | None = None,
        dataset: Data | None = None,
        num_classes: int | None = None,
        minimum: float | None = None,
        radii: ArrayLike | Tensor | None = None,
        group: Group = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, device, dtype, group)
        numbers = counts_of(counts, labels, dataset, num_classes, minimum, ignore_index)
        margins = count_margins(numbers, rho, total, power, groups, radii)
        self.counts = None if numbers is None else tuple(numbers.tolist())
        tensor = torch.tensor(margins, device=device, dtype=dtype or torch.get_default_dtype())
        check_margins(tensor, tensor)  # a small margin may vanish in the buffer's precision
        _warn_of_scale(float(margins.mean()))
        self.learnable = learnable
        if learnable:
            self.log_rho = nn.Parameter(tensor.log())
            self.register_buffer("total", tensor.sum())
        else:
            self.register_buffer("fixed_rho", tensor)
        self._states: States | None = None
        self._partition()

    @property
    def rho(self) -> Tensor:
        """The margins, shape (C,). Learnt margins keep their sum.

        Fixed margins can be edited in place or assigned; their values at the time of the call
        count.
        """
        return self.total * torch.softmax(self.log_rho, 0) if self.learnable else self.fixed_rho

    @rho.setter
    def rho(self, rho: Tensor) -> None:
        if self.learnable:
            raise ValueError("learnt margins cannot be set")
        check_margins(rho, self.fixed_rho, len(self.fixed_rho))
        self.fixed_rho = rho
        self._partition()

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
        self._partition()

    def _partition(self) -> None:
        """Note which classes share a margin, for exporters, which cannot read values."""
        if not is_traced():
            self._states = current_states(self.rho, self._states)

    def train(self, mode: bool = True) -> Self:
        """Set the mode of the module, and note which classes share a margin.

        Parameters
        ----------
        mode : bool, default=True
            True for training, False for evaluation.

        Returns
        -------
        self
        """
        super().train(mode)
        self._partition()  # learnt margins have changed since they were set
        return self

    def _load_from_state_dict(self, state: Mapping[str, Tensor], prefix: str, *args: Any) -> None:
        super()._load_from_state_dict(state, prefix, *args)
        self._partition()

    def extra_repr(self) -> str:
        """Return what the module's representation shows in its parentheses.

        Returns
        -------
        str
        """
        classes = len(self.log_rho if self.learnable else self.fixed_rho)
        kind = "learnable" if self.learnable else "fixed"
        return f"classes={classes}, {kind} margins, reduction={self.reduction!r}"

    def predict(self, logits: Tensor, rule: RuleLike = "score") -> Tensor:
        """Predict the class of the highest logit; the highest class number on a tie.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        rule : {"score"}, default="score"
            Other rules need probabilities, which this loss does not determine.

        Returns
        -------
        Tensor of int64, shape (), (N,) or (N, d1, …)
        """
        if not (isinstance(rule, str) and rule == "score"):
            raise ValueError(
                f"rule must be 'score': the scores of {type(self).__name__} do not determine "
                f"probabilities, calibrate them for other rules; got {rule!r}"
            )
        if logits.ndim == 1:
            return highest_argmax(logits.unsqueeze(0)).squeeze(0)
        return highest_argmax(logits)


def _warn_of_scale(mean: float) -> None:
    """Warn of margins that make gradients much larger or smaller than those of cross-entropy."""
    factor = 1 / mean
    if 1 / FAR_FROM_ONE < factor < FAR_FROM_ONE:
        return
    change = f"{factor:.3g} times larger" if factor > 1 else f"{mean:.3g} times smaller"
    warnings.warn(
        f"the margins have mean {mean:.3g}, so that gradients in the logits are about {change} "
        "than those of cross-entropy; use margins of mean one (total=None), or clip gradients and "
        "tune the learning rate anew",
        UserWarning,
        stacklevel=4,
    )


class ProbabilityLoss(Probabilities, MarginLoss):
    """A loss with margins whose scores determine the class probabilities."""

    link: Literal["logistic", "exponential"] = "logistic"
    form: str = "sum"

    def _log_proba(self, logits: Tensor) -> Tensor:
        if self.form == "max":
            raise ValueError("the max form does not determine probabilities: calibrate its scores")
        rho = self.rho
        check_class_vector(rho, "rho", logits)
        self._partition()
        return immax_log_proba(logits, rho, self.link, self._states)
