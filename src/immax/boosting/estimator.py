"""What the three boosting estimators share: the parameters of the loss and the fitted loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from immax.arrays import Array, Features
from immax.boosting.loss import BoostingLoss, LossParameters, Margins, make_loss
from immax.validation import check_choice

__all__ = ["LOSS_PARAMETERS", "BoostingLossMixin", "check_library_parameters"]

LOSS_PARAMETERS = ("method", "margins", "power", "rule", "method_params")


class BoostingLossMixin:
    """The parameters of the loss, and what follows from the loss once it is fitted."""

    method: str
    margins: Margins
    power: float | None
    rule: str
    method_params: dict[str, float] | None
    loss_: BoostingLoss
    margins_: Array | None

    def _set_loss_parameters(
        self,
        method: str,
        margins: Margins,
        power: float | None,
        rule: str,
        method_params: dict[str, float] | None,
    ) -> None:
        self.method = method
        self.margins = margins
        self.power = power
        self.rule = rule
        self.method_params = method_params

    def _make_loss(
        self,
        X: Features,
        y: ArrayLike,
        weight: ArrayLike | None,
        seed: int | np.random.RandomState | None,
    ) -> tuple[BoostingLoss, Array]:
        """Return the loss for a training sample, and the sample's class indices."""
        check_choice("rule", self.rule, ("score", "bayes"))
        shape = getattr(X, "shape", None)
        if shape is not None and 0 in shape:
            what = "sample" if shape[0] == 0 else "feature"
            raise ValueError(f"X has 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
        parameters: LossParameters = {
            "method": self.method,
            "margins": self.margins,
            "power": self.power,
            "method_params": self.method_params,
        }
        weights = None if weight is None else np.asarray(weight, dtype=float)
        number = int(seed) if isinstance(seed, (int, np.integer)) else 0
        return make_loss(y, weights, number, parameters)

    def _set_loss(self, loss: BoostingLoss) -> None:
        """Set the fitted attributes that follow from the loss."""
        self.loss_ = loss
        self.margins_ = loss.spec.temperature if loss.spec.name == "immax" else None

    def _fitted_loss(self) -> BoostingLoss:
        if not hasattr(self, "loss_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.loss_

    def _predict_labels(self, scores: Array) -> Array:
        return self._fitted_loss().labels(scores, self.rule)


def check_library_parameters(
    params: Mapping[str, object], reserved: Iterable[str], rounds: str
) -> None:
    """Check the library's parameters of an estimator.

    Parameters
    ----------
    params : mapping
        The estimator's parameters.
    reserved : iterable of str
        Parameters that the method determines.
    rounds : str
        The name of the number of boosting rounds.

    Raises
    ------
    ValueError
        If a reserved parameter is set, or the number of rounds is below one.
    """
    for name in reserved:
        if params.get(name) is not None:
            raise ValueError(f"{name} is determined by the method; leave it at None")
    number = params.get(rounds)
    if isinstance(number, (int, float, np.number)) and number < 1:
        raise ValueError(f"{rounds} must be at least 1; got {number!r}")
