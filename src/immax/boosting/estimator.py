"""The common part of the boosting estimators: the loss and the decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from immax.arrays import Array, Features
from immax.boosting.description import Description
from immax.boosting.loss import BoostingLoss, LossParameters, Margins, make_loss
from immax.boosting.rule_choice import closed_form_rule, most_probable_rule
from immax.decisions.aims import Aim, Costs
from immax.decisions.fitting import fit_rule, resolve_aim
from immax.decisions.out_of_fold import out_of_fold_proba
from immax.decisions.rules import Rule
from immax.validation import check_choice

__all__ = [
    "CLASS_WEIGHTS",
    "LOSS_PARAMETERS",
    "BoostingLossMixin",
    "check_class_weights",
    "check_library_parameters",
]

LOSS_PARAMETERS = ("method", "margins", "power", "rule", "aim", "costs", "cv", "method_params")
CLASS_WEIGHTS = (
    "class_weight",
    "class_weights",
    "auto_class_weights",
    "scale_pos_weight",
    "is_unbalance",
    "unbalance",
    "unbalanced_sets",
    "eval_class_weight",
    "pos_bagging_fraction",
    "pos_sub_row",
    "pos_subsample",
    "pos_bagging",
    "neg_bagging_fraction",
    "neg_sub_row",
    "neg_subsample",
    "neg_bagging",
)
"""The libraries' parameters that weigh classes, or draw samples of them at different rates."""
NO_WEIGHT = {name: (1,) for name in CLASS_WEIGHTS if name.startswith(("pos_", "neg_", "scale_pos"))}
"""Values other than None that leave classes as they are."""


class BoostingLossMixin:
    """The parameters of loss and decision, and what follows from them once the model is fitted."""

    method: str
    margins: Margins
    power: float | None
    rule: str
    aim: str | Aim | None
    costs: ArrayLike | None
    cv: Any
    method_params: dict[str, float] | None
    loss_: BoostingLoss
    margins_: Array | None
    _aim_rule: Rule | None
    _fold_options: ClassVar[tuple[str, ...]]
    """Arguments of ``fit`` that fits to parts of the sample take over."""
    _sample_options: ClassVar[tuple[str, ...]]
    """Arguments of ``fit`` that would bring the held-out samples into such fits."""

    def _set_loss_parameters(
        self,
        method: str,
        margins: Margins,
        power: float | None,
        rule: str,
        aim: str | Aim | None,
        costs: ArrayLike | None,
        cv: Any,
        method_params: dict[str, float] | None,
    ) -> None:
        self.method = method
        self.margins = margins
        self.power = power
        self.rule = rule
        self.aim = aim
        self.costs = costs
        self.cv = cv
        self.method_params = method_params

    def _loss_parameters(self) -> LossParameters:
        return {
            "method": self.method,
            "margins": self.margins,
            "power": self.power,
            "method_params": self.method_params,
        }

    def _make_loss(
        self,
        X: Features,
        y: ArrayLike | None,
        weight: ArrayLike | None,
        seed: int | np.random.RandomState | None,
    ) -> tuple[Description, Array]:
        """Return the loss and rule for a training sample, and the sample's class indices.

        The rule is the one that is known before training.
        """
        aim = self._resolved_aim()
        shape = getattr(X, "shape", None)
        if shape is not None and 0 in shape:
            what = "sample" if shape[0] == 0 else "feature"
            raise ValueError(f"X has 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
        weights = None if weight is None else np.asarray(weight, dtype=float)
        number = int(seed) if isinstance(seed, (int, np.integer)) else 0
        loss, codes = make_loss(y, weights, number, self._loss_parameters())
        return self._early_description(loss, aim), codes

    def _resolved_aim(self) -> Aim | None:
        """Return what ``aim`` or ``costs`` ask for, and check that they go together."""
        check_choice("rule", self.rule, ("score", "bayes"))
        if self.costs is not None:
            if self.aim is not None:
                raise ValueError("costs stand for the aim Costs(…): pass either aim or costs")
            if self.rule != "bayes":
                raise ValueError(
                    "costs are taken into account by rule='bayes' only; got rule='score'"
                )
            return Costs(self.costs)
        return None if self.aim is None else resolve_aim(self.aim)

    def _early_description(self, loss: BoostingLoss, aim: Aim | None) -> Description:
        """Return the loss, with the rule by which labels are evaluated during training."""
        if aim is None:
            return Description(loss, self._rule_by_name(loss))
        rule = closed_form_rule(aim, loss.classes, loss.shares)
        if rule is None or rule.abstains or rule.count is not None:
            rule = most_probable_rule(loss.classes, loss.shares)
        return Description(loss, rule)

    def _rule_by_name(self, loss: BoostingLoss) -> Rule | None:
        return None if self.rule == "score" else most_probable_rule(loss.classes, loss.shares)

    def _choose_rule(
        self,
        loss: BoostingLoss,
        X: Features,
        codes: Array,
        weight: ArrayLike | None,
        options: Mapping[str, Any],
    ) -> Rule | None:
        """Return the rule that serves the aim, or None without an aim."""
        aim = self._resolved_aim()
        if aim is None:
            return None
        rule = closed_form_rule(aim, loss.classes, loss.shares)
        if rule is not None:
            return rule
        for name in self._sample_options:
            if options.get(name) is not None:
                raise ValueError(
                    f"the rule for the aim {aim.name!r} is fitted to out-of-fold probabilities, "
                    f"which excludes {name}; fit it to held-out samples: "
                    "DecisionClassifierCV(model, aim, cv='prefit').fit(X_held_out, y_held_out)"
                )
        fit_options = {name: options[name] for name in self._fold_options if name in options}
        weights = None if weight is None else np.asarray(weight, dtype=float)
        parameters = {"aim": None, "costs": None, **self._fold_parameters()}

        labels = loss.classes[codes]

        def predict(train: Array, test: Array) -> Array:
            own = None if weights is None else weights[train]
            model = clone(self).set_params(**parameters)
            model.fit(_safe_indexing(X, train), labels[train], sample_weight=own, **fit_options)
            return np.asarray(model.predict_proba(_safe_indexing(X, test)))

        splits = check_cv(self.cv, labels, classifier=True).split(X, labels)
        proba = out_of_fold_proba(predict, labels, splits)
        return fit_rule(proba, labels, aim, classes=loss.classes, sample_weight=weights)

    def _fold_parameters(self) -> dict[str, Any]:
        """Return the library's parameters of fits to parts of the sample.

        They take as many rounds as the fit to all samples, and do not stop early.
        """
        raise NotImplementedError

    def _set_loss(self, loss: BoostingLoss, rule: Rule | None) -> None:
        """Set the fitted attributes that follow from the loss and from the aim."""
        self.loss_ = loss
        self.margins_ = loss.spec.temperature if loss.spec.name == "immax" else None
        self._aim_rule = rule

    def _set_description(self, description: Description) -> None:
        """Set what a model file says."""
        self.rule = "score" if description.rule is None else "bayes"
        self._set_loss(description.loss, description.rule)

    def _fitted_loss(self) -> BoostingLoss:
        if not hasattr(self, "loss_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.loss_

    @property
    def rule_(self) -> Rule | None:
        """The rule of the aim, or of rule="bayes"; None if the highest score decides."""
        loss = self._fitted_loss()
        own = getattr(self, "_aim_rule", None)
        return self._rule_by_name(loss) if own is None else own

    def _description(self) -> Description:
        return Description(self._fitted_loss(), self.rule_)


def check_class_weights(params: Mapping[str, object]) -> None:
    """Raise an error for parameters that weight classes, and name the alternative.

    Parameters
    ----------
    params : mapping
        Parameters of an estimator.

    Raises
    ------
    ValueError
        If a class weight is set.
    """
    for name in CLASS_WEIGHTS:
        value = params.get(name)
        if value is None or (np.isscalar(value) and value in NO_WEIGHT.get(name, (False, "None"))):
            continue
        raise ValueError(
            f"{name} is not supported: the link, which turns scores into probabilities, does not "
            "undo class weights. Use power or margins for the loss, and aim or costs for the "
            f"decisions; got {name}={value!r}"
        )


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
        If a reserved parameter or a class weight is set, or the number of rounds is below one.
    """
    check_class_weights(params)
    for name in reserved:
        if params.get(name) is not None:
            raise ValueError(f"{name} is determined by the method; leave it at None")
    number = params.get(rounds)
    if isinstance(number, (int, float, np.number)) and number < 1:
        raise ValueError(f"{rounds} must be at least 1; got {number!r}")
