"""What the boosting estimators share: the loss of a sample's classes, and what scores mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, column_or_1d

from immax.arrays import Array
from immax.atomic import write_text
from immax.boosting.pairs import EXPECTED_ROUNDS, constant_scores, gradient_hessian
from immax.links import by_score, decide, immax_proba, spec_proba
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec
from immax.margins import power_margins, resolve_margins
from immax.validation import check_choice, class_codes, nearest

__all__ = ["OWN", "BoostingLoss", "LossOwner", "check_given", "make_loss"]

OWN = ("method", "margins", "power", "rule", "method_params")
FIELDS = ("temperature", "scale", "offset", "target_offset", "weight", "droppable")


@dataclass(frozen=True)
class BoostingLoss:
    """A loss, the classes that it is for, and the scores that boosting begins with."""

    spec: LossSpec
    classes: Array
    constants: Array  # (c,), or (1,) for two classes
    seed: int = 0

    @property
    def binary(self) -> bool:
        return len(self.classes) == 2

    def codes(self, y: ArrayLike, name: str) -> Array:
        """Labels to indices of classes; unknown ones are refused."""
        labels = column_or_1d(y)
        found = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        unknown = labels[self.classes[found] != labels]
        if unknown.size:
            raise ValueError(
                f"{name} holds the label {unknown.tolist()[0]!r}, which is none of the training "
                f"labels {self.classes.tolist()}"
            )
        return np.asarray(found)

    def encoded(self, sets: Iterable[tuple[Any, ArrayLike]]) -> list[tuple[Any, Array]]:
        """Evaluation sets, with codes for labels."""
        return [
            (data, self.codes(labels, f"eval_set[{number}]"))
            for number, (data, labels) in enumerate(sets)
        ]

    def start(self, n: int) -> Array:
        """The constant scores, for n samples."""
        return np.full(n, self.constants[0]) if self.binary else np.tile(self.constants, (n, 1))

    def pairs(
        self, scores: Array, y: Array, weight: Array | None = None, factor: float = 1.0
    ) -> tuple[Array, Array]:
        """Gradients and Hessians; the draws of a random loss are the same in every round."""
        drop = self.spec.draw(len(y), self.seed)
        return gradient_hessian(self.spec, scores, y, weight, drop, factor)

    def losses(self, scores: Array, y: Array) -> Array:
        """Of every sample."""
        return self.spec.loss(self._both(scores), y, self.seed)

    def _both(self, scores: Array) -> Array:
        return np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores

    def proba(self, scores: Array) -> Array:
        """Class probabilities, through the link."""
        if self.spec.name == "immax":
            rho = self.spec.temperature
            if self.binary:  # of one score only the ratio of the margins counts
                scores = scores / scores.dtype.type(rho.sum())
            return immax_proba(scores, rho, calls=EXPECTED_ROUNDS)
        return spec_proba(self._both(scores), self.spec, calls=EXPECTED_ROUNDS)

    def labels(self, scores: Array, rule: str) -> Array:
        """By the highest score or the highest probability."""
        return np.asarray(
            self.classes[decide(self.proba(scores)) if rule == "bayes" else by_score(scores)]
        )

    def save(self, model: str | Path) -> None:
        """Beside a model's file."""
        content: dict[str, Any] = {
            "format": 1,
            "name": self.spec.name,
            "focus": self.spec.focus,
            "drop_rate": self.spec.drop_rate,
            "classes": self.classes.tolist(),
            "class_type": self.classes.dtype.str,
            "constants": self.constants.tolist(),
            "seed": self.seed,
        }
        content |= {name: getattr(self.spec, name).tolist() for name in FIELDS}
        write_text(_beside(model), json.dumps(content, indent=1))

    @classmethod
    def load(cls, model: str | Path) -> BoostingLoss:
        """From beside a model's file."""
        path = _beside(model)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            spec = LossSpec(
                **{name: content[name] for name in FIELDS},
                focus=content["focus"],
                drop_rate=content["drop_rate"],
                name=content["name"],
            )
            classes = np.array(content["classes"], dtype=content["class_type"])
            return cls(spec, classes, np.array(content["constants"]), int(content["seed"]))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path} is missing: the margins of the model {model}, without which its scores "
                "mean nothing; save_model writes both"
            ) from None
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error


def _beside(model: str | Path) -> Path:
    return Path(f"{model}.immax.json")


def make_loss(
    y: ArrayLike,
    weight: Array | None,
    *,
    method: str,
    method_params: dict[str, Any] | None,
    margins: Any,
    power: float | None,
    seed: int,
) -> tuple[BoostingLoss, Array]:
    """The loss of a method for a sample's classes, and the indices of the sample's labels.

    Margins are scaled to a mean of one, so that equal margins are the library's own objective.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}{nearest(method, METHODS)}")
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    classes, codes = class_codes(labels)
    if weight is not None and weight.shape != labels.shape:
        raise ValueError(f"sample_weight must have shape {labels.shape}; got {weight.shape}")
    counts = np.bincount(codes, weights=weight, minlength=len(classes)).astype(float)
    if not (counts > 0).all():
        raise ValueError("every class needs a positive total sample_weight")
    if method != "immax":
        if power is not None:
            raise ValueError(f"power is for method='immax'; got method={method!r}")
        spec = make_spec(method, counts, **(method_params or {}))
    else:
        if method_params:
            raise ValueError("method='immax' takes margins or power instead of method_params")
        rho = (
            resolve_margins(margins, classes, counts, None)
            if power is None
            else power_margins(counts, float(power))
        )
        spec = LossSpec(rho / rho.mean(), name="immax")
    return BoostingLoss(spec, classes, constant_scores(spec, counts), seed), codes


class LossOwner:
    """An estimator's parameters of the loss, and what it has once its loss is known."""

    loss_: BoostingLoss

    def _set_own(self, *values: Any) -> None:
        for name, value in zip(OWN, values, strict=True):
            setattr(self, name, value)

    def _make_loss(self, X: Any, y: Any, weight: Any, seed: Any) -> tuple[BoostingLoss, Array]:
        own = {name: getattr(self, name) for name in OWN}
        check_choice("rule", own.pop("rule"), ("score", "bayes"))
        shape = getattr(X, "shape", None)
        if shape is not None and 0 in shape:
            what = "sample" if shape[0] == 0 else "feature"
            raise ValueError(f"X has 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
        weight = None if weight is None else np.asarray(weight, dtype=float)
        number = int(seed) if isinstance(seed, (int, np.integer)) else 0
        return make_loss(y, weight, seed=number, **own)

    def _keep(self, loss: BoostingLoss) -> None:
        self.loss_ = loss
        self.margins_ = loss.spec.temperature if loss.spec.name == "immax" else None

    def _known_loss(self) -> BoostingLoss:
        if not hasattr(self, "loss_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.loss_


def check_given(params: Mapping[str, Any], taken: Iterable[str], rounds: str) -> None:
    """Refuse what the method takes the place of, and a number of rounds below one."""
    for name in taken:
        if params.get(name) is not None:
            raise ValueError(f"{name} is given by the method; leave it at None")
    number = params.get(rounds)
    if number is not None and number < 1:
        raise ValueError(f"{rounds} must be at least 1; got {number!r}")
