"""LossSpec: a method of the catalogue as a table of per-class numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.utils import check_random_state

from immax.arrays import Array, Vector
from immax.class_vectors import class_vector
from immax.losses.softmax import SoftmaxKernel, float_dtype

__all__ = ["LossSpec"]

Seed: TypeAlias = int | np.random.RandomState | None


def _finite_vector(values: ArrayLike | None, name: str, n_classes: int, default: float) -> Vector:
    if values is None:
        return np.full(n_classes, default)
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (n_classes,) or not np.isfinite(vector).all():
        raise ValueError(
            f"{name} must be {n_classes} finite numbers, one per class; got {values!r}"
        )
    return vector


@dataclass(frozen=True, eq=False)
class LossSpec:
    """The family of losses that contains cross-entropy, its rivals and logistic IMMAX.

    For scores ``h`` of shape (n, c) and labels ``y`` in 0 … c-1, natural logarithms::

        z_ij = h_ij * scale_j / temperature_{y_i} + offset_j - target_offset_{y_i} * [j = y_i]
        p_i  = softmax(z_i)_{y_i}
        L_i  = weight_{y_i} * (1 - p_i)^focus * (-log p_i)

    and with probability ``drop_rate``, drawn once per sample, the classes marked in
    ``droppable`` are left out of the softmax of a sample of another class.

    Parameters
    ----------
    temperature : array-like of shape (n_classes,)
        Positive; the confidence margins ``rho`` of IMMAX. Arrays are copied and read-only.
    scale, offset, target_offset, weight : array-like of shape (n_classes,), optional
        1, 0, 0 and 1 by default; ``scale`` and ``weight`` are positive.
    focus : float, default=0
        The focal exponent, not negative. Above 0 the loss is not convex.
    droppable : array-like of bool, shape (n_classes,), optional
        Classes that may be left out as negatives.
    drop_rate : float, default=0
        From 0 up to, but without, 1.
    name : str, default="custom"

    References
    ----------
    *Balancing the Scales*, appendix "Experimental details", lists the members.

    Examples
    --------
    >>> spec = LossSpec([1.0, 1.0])
    >>> spec.loss([[0.0, 0.0]], [1])
    array([0.69314718])
    """

    temperature: Vector
    scale: Vector = None  # type: ignore[assignment]
    offset: Vector = None  # type: ignore[assignment]
    target_offset: Vector = None  # type: ignore[assignment]
    weight: Vector = None  # type: ignore[assignment]
    focus: float = 0.0
    droppable: NDArray[np.bool_] = None  # type: ignore[assignment]
    drop_rate: float = 0.0
    name: str = "custom"

    def __post_init__(self) -> None:
        temperature = class_vector(self.temperature, "temperature").copy()
        c = temperature.size
        table: dict[str, Vector | NDArray[np.bool_] | float] = {
            "temperature": temperature,
            "offset": _finite_vector(self.offset, "offset", c, 0.0),
            "target_offset": _finite_vector(self.target_offset, "target_offset", c, 0.0),
        }
        for name in ("scale", "weight"):
            given = getattr(self, name)
            table[name] = np.ones(c) if given is None else class_vector(given, name, c).copy()
        droppable = self.droppable
        marks = np.zeros(c, bool) if droppable is None else np.array(droppable, bool)
        if marks.shape != (c,):
            raise ValueError(f"droppable must be {c} booleans, one per class; got {droppable!r}")
        if not (np.isfinite(self.focus) and self.focus >= 0):
            raise ValueError(f"focus must be a finite number of at least 0; got {self.focus!r}")
        if not 0 <= self.drop_rate < 1:
            raise ValueError(f"drop_rate must be at least 0 and below 1; got {self.drop_rate!r}")
        table["droppable"] = marks
        table["focus"] = float(self.focus)
        table["drop_rate"] = float(self.drop_rate)
        for name, value in table.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.temperature.size)

    @property
    def convex(self) -> bool:
        """Whether the loss is convex in the scores."""
        return self.focus == 0

    @property
    def random(self) -> bool:
        """Whether the loss depends on a draw per sample."""
        return bool(self.drop_rate > 0 and self.droppable.any())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LossSpec):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def draw(self, n_samples: int, random_state: Seed = None) -> NDArray[np.bool_] | None:
        """Draw for which samples the droppable classes are left out.

        Parameters
        ----------
        n_samples : int
            The number of samples.
        random_state : int, RandomState or None, default=None
            Seeds the draws; None draws anew in every call.

        Returns
        -------
        ndarray of bool, shape (n_samples,), or None
            None if no class is ever left out.
        """
        if not self.random:
            return None
        rng = check_random_state(random_state)
        return np.asarray(rng.uniform(size=n_samples) < self.drop_rate)

    def kernel(
        self, y: ArrayLike, random_state: Seed = None, dtype: DTypeLike = np.float64
    ) -> SoftmaxKernel:
        """Return the loss of labelled samples as a function of their scores.

        Parameters
        ----------
        y : array-like of int, shape (n,)
            Class indices.
        random_state : int, RandomState or None, default=None
            Seeds the draws of a spec with a ``drop_rate``.
        dtype : dtype, default=float64
            The precision of the computation.

        Returns
        -------
        SoftmaxKernel

        Raises
        ------
        ValueError
            If y is not one-dimensional, not of integers, or holds an index that is not a class.
        """
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise ValueError(
                f"y must be a 1-D array of integers from 0 to {self.n_classes - 1}; "
                f"got shape {labels.shape} and dtype {labels.dtype}"
            )
        if labels.size and (labels.min() < 0 or labels.max() >= self.n_classes):
            bad = labels[(labels < 0) | (labels >= self.n_classes)][0]
            raise ValueError(f"y holds {bad}; labels go from 0 to {self.n_classes - 1}")
        drop = self.draw(labels.size, random_state)
        return SoftmaxKernel(self, labels, drop, dtype=dtype)

    def loss(self, scores: ArrayLike, y: ArrayLike, random_state: Seed = None) -> Array:
        """Return the loss of each sample.

        The same seed gives ``loss``, ``gradient`` and ``hessian_product`` the same draws.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.
        y : array-like of int, shape (n,)
            Class indices.
        random_state : int, RandomState or None, default=None
            Seeds the draws of a spec with a ``drop_rate``.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If the scores have another shape, or y holds an index that is not a class.
        """
        return self.kernel(y, random_state, float_dtype(scores)).loss(scores)

    def gradient(self, scores: ArrayLike, y: ArrayLike, random_state: Seed = None) -> Array:
        """Return the gradient of each sample's loss in its scores.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.
        y : array-like of int, shape (n,)
            Class indices.
        random_state : int, RandomState or None, default=None
            As in ``loss``.

        Returns
        -------
        ndarray of shape (n, c)

        Raises
        ------
        ValueError
            If the scores have another shape, or y holds an index that is not a class.
        """
        return self.kernel(y, random_state, float_dtype(scores)).gradient(scores)

    def hessian_product(
        self, scores: ArrayLike, y: ArrayLike, vectors: ArrayLike, random_state: Seed = None
    ) -> Array:
        """Multiply the Hessian of each sample's loss by a vector.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.
        y : array-like of int, shape (n,)
            Class indices.
        vectors : array-like of shape (n, c)
            A vector for each sample.
        random_state : int, RandomState or None, default=None
            As in ``loss``.

        Returns
        -------
        ndarray of shape (n, c)

        Raises
        ------
        ValueError
            If the scores or the vectors have another shape, or y holds an index that is not a
            class.
        """
        return self.kernel(y, random_state, float_dtype(scores)).hessian_product(scores, vectors)
