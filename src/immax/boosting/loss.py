"""The loss of a boosting estimator: its classes, starting scores and probabilities.

With two classes there is one score h, that of class 1, which stands for scores (-h/2, h/2). IMMAX
is then ``Psi(h / rho_1)`` on class 1 and ``Psi(-h / rho_0)`` on class 0. Margins have mean one by
default; margins that are given are not rescaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import assert_all_finite, column_or_1d

from immax.arrays import Array, Features
from immax.boosting.pairs import EXPECTED_ROUNDS, constant_scores, gradient_hessian
from immax.links import immax_proba, spec_proba
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec
from immax.margins import power_margins, resolve_margins
from immax.validation import class_codes, nearest

__all__ = ["BoostingLoss", "LossParameters", "Margins", "loss_from_counts", "make_loss"]

Margins = str | ArrayLike | Mapping[object, float]
"""Margins as estimators take them: "theory", "equal", an array, or a dict by class label."""

COLUMNS = ("temperature", "scale", "offset", "target_offset", "weight", "droppable")


@dataclass(frozen=True)
class BoostingLoss:
    """A loss with its classes and the scores from which boosting starts.

    Parameters
    ----------
    spec : LossSpec
        The method.
    classes : ndarray of shape (c,)
        The labels, sorted.
    constants : ndarray of shape (c,), or (1,) for two classes
        The scores that boosting begins with.
    seed : int, default=0
        Seeds the draws of a random loss.
    prior : ndarray of shape (c,), optional
        The share of each class in the training sample; by default equal shares.
    """

    spec: LossSpec
    classes: Array
    constants: Array
    seed: int = 0
    prior: Array | None = None

    @property
    def shares(self) -> Array:
        """The share of each class in the training sample."""
        c = len(self.classes)
        return np.full(c, 1 / c) if self.prior is None else self.prior

    @property
    def binary(self) -> bool:
        """Whether there are two classes, and one score."""
        return len(self.classes) == 2

    def encode(self, y: ArrayLike, name: str) -> Array:
        """Return the class indices of labels.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels.
        name : str
            What errors call them.

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        ValueError
            If a label is not among ``classes``.
        """
        labels = column_or_1d(y)
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        unknown = labels[self.classes[codes] != labels]
        if unknown.size:
            raise ValueError(
                f"{name} holds the label {unknown.tolist()[0]!r}, which is not among the training "
                f"labels {self.classes.tolist()}"
            )
        return np.asarray(codes)

    def encode_sets(
        self, sets: Iterable[tuple[Features, ArrayLike]]
    ) -> list[tuple[Features, Array]]:
        """Return evaluation sets with class indices for labels.

        Parameters
        ----------
        sets : iterable of (X, y)
            Features and labels.

        Returns
        -------
        list of (X, ndarray of int)

        Raises
        ------
        ValueError
            If a label is not among ``classes``.
        """
        return [
            (data, self.encode(labels, f"eval_set[{number}]"))
            for number, (data, labels) in enumerate(sets)
        ]

    def starting_scores(self, n: int) -> Array:
        """Return the scores that boosting begins with.

        Parameters
        ----------
        n : int
            The number of samples.

        Returns
        -------
        ndarray of shape (n, c), or (n,) for two classes
        """
        return np.full(n, self.constants[0]) if self.binary else np.tile(self.constants, (n, 1))

    def without_constants(self) -> Self:
        """Return the loss for boosting that begins at other scores.

        Returns
        -------
        BoostingLoss
            Its ``constants`` are zero.
        """
        return replace(self, constants=np.zeros_like(self.constants))

    def pairs(
        self, scores: Array, y: Array, weight: Array | None = None, factor: float = 1.0
    ) -> tuple[Array, Array]:
        """Return the gradient and the diagonal Hessian of every sample's loss in its scores.

        A random loss has the same draws in every call.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n,) for two classes
            Scores.
        y : ndarray of int, shape (n,)
            Class indices.
        weight : ndarray of shape (n,), optional
            Sample weights.
        factor : float, default=1.0
            Multiplies the Hessians.

        Returns
        -------
        gradient, hessian : ndarrays of float32, of the shape of the scores
        """
        drop = self.spec.draw(len(y), self.seed)
        return gradient_hessian(self.spec, scores, y, weight, drop, factor)

    def losses(self, scores: Array, y: Array) -> Array:
        """Return the loss of every sample.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n,) for two classes
            Scores.
        y : ndarray of int, shape (n,)
            Class indices.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.spec.loss(self._both_scores(scores), y, self.seed)

    def _both_scores(self, scores: Array) -> Array:
        return np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores

    def proba(self, scores: Array) -> Array:
        """Return class probabilities by the link.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n,) for two classes
            Scores.

        Returns
        -------
        ndarray of shape (n, c)
        """
        if self.spec.name == "immax":
            return immax_proba(scores, self.spec.temperature, expected_calls=EXPECTED_ROUNDS)
        both = self._both_scores(scores)
        return spec_proba(both, self.spec, expected_calls=EXPECTED_ROUNDS)

    def to_dict(self) -> dict[str, Any]:
        """Return the loss as values that JSON can hold.

        Returns
        -------
        dict
        """
        content: dict[str, Any] = {
            "name": self.spec.name,
            "focus": self.spec.focus,
            "drop_rate": self.spec.drop_rate,
            "classes": self.classes.tolist(),
            "class_type": self.classes.dtype.str,
            "constants": self.constants.tolist(),
            "seed": self.seed,
            "prior": None if self.prior is None else self.prior.tolist(),
        }
        return content | {name: getattr(self.spec, name).tolist() for name in COLUMNS}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the loss that ``to_dict`` described.

        Parameters
        ----------
        content : mapping
            What ``to_dict`` returned.

        Returns
        -------
        BoostingLoss
        """
        spec = LossSpec(
            **{name: content[name] for name in COLUMNS},
            focus=content["focus"],
            drop_rate=content["drop_rate"],
            name=content["name"],
        )
        classes = np.array(content["classes"], dtype=content["class_type"])
        prior = content.get("prior")
        return cls(
            spec,
            classes,
            np.array(content["constants"], dtype=np.float64),
            int(content["seed"]),
            None if prior is None else np.array(prior, dtype=np.float64),
        )


class LossParameters(TypedDict):
    """The parameters of an estimator that determine its loss."""

    method: str
    margins: Margins
    power: float | None
    method_params: dict[str, float] | None


def make_loss(
    y: ArrayLike | None, weight: Array | None, seed: int, parameters: LossParameters
) -> tuple[BoostingLoss, Array]:
    """Return the loss of a method for a sample's classes, and the sample's class indices.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any type; None, which scikit-learn passes for labels left out, is an error.
    weight : ndarray of shape (n,), optional
        Sample weights.
    seed : int
        Seeds the draws of a random loss.
    parameters : LossParameters
        The estimator's.

    Returns
    -------
    loss : BoostingLoss
    codes : ndarray of int, shape (n,)

    Raises
    ------
    ValueError
        If the parameters contradict each other, or do not suit the classes.
    """
    _check_method(parameters["method"])
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
    return loss_from_counts(classes, counts, seed, parameters), codes


def loss_from_counts(
    classes: Array, counts: Array, seed: int, parameters: LossParameters
) -> BoostingLoss:
    """Return the loss of a method for classes of these sizes.

    Parameters
    ----------
    classes : ndarray of shape (c,)
        The labels, sorted.
    counts : ndarray of shape (c,)
        Number (or total weight) of samples per class, all positive.
    seed : int
        Seeds the draws of a random loss.
    parameters : LossParameters
        The estimator's.

    Returns
    -------
    BoostingLoss

    Raises
    ------
    ValueError
        If the parameters contradict each other, or do not suit the classes.
    """
    _check_method(parameters["method"])
    spec = _make_spec(parameters, classes, counts)
    return BoostingLoss(spec, classes, constant_scores(spec, counts), seed, counts / counts.sum())


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}{nearest(method, METHODS)}")


def _make_spec(parameters: LossParameters, classes: Array, counts: Array) -> LossSpec:
    method, margins, power = parameters["method"], parameters["margins"], parameters["power"]
    method_params = parameters["method_params"] or {}
    if method != "immax":
        if power is not None:
            raise ValueError(f"power is for method='immax'; got method={method!r}")
        return make_spec(method, counts, **method_params)
    if method_params:
        raise ValueError("method='immax' takes margins or power instead of method_params")
    if power is not None:
        return LossSpec(power_margins(counts, float(power)), name="immax")
    return LossSpec(resolve_margins(margins, classes, counts), name="immax")
