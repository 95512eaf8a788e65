"""Empirical risks: the scores of a labelled sample to a number, its slopes and curvature.

A risk holds everything about the sample but its features: labels, weights, margins. The
weights sum to one, so a risk is a weighted mean. Scores have shape (n, k): one column per
class, or a single column for two classes, the score of class 1 (the paper's h).

Smooth risks offer ``value_gradient`` and ``curvature``. Risks with kinks (the hinge, every
max form) offer ``value`` and ``envelope``, a smooth risk that the method of multipliers
minimises in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from immax.arrays import Array
from immax.losses.proximal import max_prox
from immax.losses.softmax import SoftmaxKernel
from immax.losses.spec import LossSpec
from immax.losses.surrogates import Surrogate, focal, logistic, runner_up, smoothed_hinge

__all__ = [
    "Curvature",
    "Envelope",
    "ExponentialRisk",
    "KinkedRisk",
    "MarginRisk",
    "MaxRisk",
    "SampleRisk",
    "SmoothRisk",
    "SoftmaxRisk",
    "binary_risk",
]

BLOCK_ROWS = 8192


class Curvature(Protocol):
    """Hessians of a sample's weighted losses in its scores, one k×k matrix per sample."""

    def block(self, a: int, b: int) -> Array: ...
    def diagonal(self) -> Array: ...
    def product(self, vectors: Array) -> Array: ...
    def total(self) -> Array: ...


class SmoothRisk(Protocol):
    """A continuously differentiable risk.

    ``null_direction`` is the unit vector in class space along which scores may move
    without any effect, or None.
    """

    n_outputs: int
    convex: bool
    smooth: bool
    null_direction: Array | None

    def value(self, scores: Array) -> float: ...
    def value_gradient(self, scores: Array) -> tuple[float, Array]: ...
    def curvature(self, scores: Array) -> Curvature: ...


class SampleRisk(SmoothRisk, Protocol):
    """A smooth risk of a whole sample, which can be had in single precision too."""

    def single(self) -> SampleRisk: ...


class Envelope(SmoothRisk, Protocol):
    """A smooth stand-in for a risk with kinks, at given multipliers and stiffness."""

    def dual(self, scores: Array) -> tuple[Array, Array, float]:
        """New multipliers; their weighted gradient in the scores; minus the conjugate there."""
        ...


class KinkedRisk(Protocol):
    """A convex risk with kinks."""

    n_outputs: int
    smooth: bool

    def value(self, scores: Array) -> float: ...
    def envelope(self, multipliers: Array | None, stiffness: float) -> Envelope: ...


def _mean(losses: Array, weight: Array) -> float:
    return float(
        np.dot(losses.astype(np.float64, copy=False), weight.astype(np.float64, copy=False))
    )


def _uniform(n_classes: int, dtype: Any) -> Array:
    return np.full(n_classes, n_classes**-0.5, dtype=dtype)


@dataclass
class DiagonalCurvature:
    """The curvature of a single score, or of scores that do not interact: (n, k)."""

    entries: Array

    def block(self, a: int, b: int) -> Array:
        return self.entries[:, a] if a == b else np.zeros_like(self.entries[:, a])

    def diagonal(self) -> Array:
        return self.entries

    def product(self, vectors: Array) -> Array:
        return np.asarray(self.entries * vectors)

    def total(self) -> Array:
        return np.diag(self.entries.sum(axis=0))


@dataclass
class MarginRisk:
    """Two classes: ``sum_i weight_i Psi(slope_i h_i + shift_i)`` of a single score.

    For IMMAX, slope is ``1 / rho_1`` on class 1 and ``-1 / rho_0`` on class 0, and shift is zero.
    """

    surrogate: Surrogate
    slope: Array
    shift: Array
    weight: Array
    convex: bool = True
    n_outputs: int = 1
    null_direction: Array | None = None

    @property
    def smooth(self) -> bool:
        return self.surrogate.smooth

    def _blocks(self) -> list[slice]:
        """Rows few enough for the temporary arrays to stay in the cache."""
        return [slice(i, i + BLOCK_ROWS) for i in range(0, self.weight.size, BLOCK_ROWS)]

    def _margins(self, scores: Array, rows: slice) -> Array:
        margins = self.slope[rows] * scores[rows, 0]
        margins += self.shift[rows]
        return np.asarray(margins)

    def value(self, scores: Array) -> float:
        return self.value_gradient(scores)[0]

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.empty_like(scores)
        for rows in self._blocks():
            losses, slope = self.surrogate.value_slope(self._margins(scores, rows))
            value += _mean(losses, self.weight[rows])
            slope *= self.weight[rows]
            np.multiply(slope, self.slope[rows], out=gradient[rows, 0])
        return value, gradient

    def curvature(self, scores: Array) -> DiagonalCurvature:
        entries = np.empty_like(scores)
        for rows in self._blocks():
            bend = self.surrogate.curvature(self._margins(scores, rows))
            bend *= self.weight[rows]
            np.multiply(bend, self.slope[rows] ** 2, out=entries[rows, 0])
        return DiagonalCurvature(entries)

    def single(self) -> MarginRisk:
        slope, shift, weight = (
            part.astype(np.float32) for part in (self.slope, self.shift, self.weight)
        )
        return MarginRisk(self.surrogate, slope, shift, weight, self.convex)

    def envelope(self, multipliers: Array | None, stiffness: float) -> MarginEnvelope:
        """The hinge's augmented Lagrangian; multipliers are slopes of the hinge, in [-1, 0]."""
        return MarginEnvelope(self, multipliers, stiffness)


class MarginEnvelope(MarginRisk):
    """A smoothed hinge whose shifts carry the multipliers (up to a constant)."""

    def __init__(self, base: MarginRisk, multipliers: Array | None, stiffness: float) -> None:
        carried = 0.0 if multipliers is None else multipliers / stiffness
        surrogate = smoothed_hinge(1 / stiffness)
        super().__init__(surrogate, base.slope, base.shift + carried, base.weight)
        self._base = base

    def dual(self, scores: Array) -> tuple[Array, Array, float]:
        multipliers = self.surrogate.slope(self._margins(scores, slice(None)))
        # The hinge's conjugate is the identity on [-1, 0].
        value = _mean(multipliers * (self._base.shift - 1), self.weight)
        return multipliers, (multipliers * self.slope * self.weight)[:, None], value


def binary_risk(spec: LossSpec, y: Array, weight: Array, drop: Array | None) -> MarginRisk:
    """A catalogue method for two classes on the single score h, as scores (-h/2, h/2).

    The logit of the target's probability is then linear in h, so every method is a
    logistic (or focal) loss of ``slope * h + shift``.
    """
    sign = np.where(y == 1, 1.0, -1.0)
    slope = sign * spec.scale.mean() / spec.temperature[y]
    shift = sign * (spec.offset[1] - spec.offset[0]) - spec.target_offset[y]
    factor = spec.weight[y]
    if drop is not None:
        # Without its only negative a sample is always right, and its loss is zero.
        factor = np.where(drop & spec.droppable[1 - y], 0, factor)
    return MarginRisk(
        logistic if spec.focus == 0 else focal(spec.focus),
        slope.astype(weight.dtype),
        shift.astype(weight.dtype),
        (weight * factor).astype(weight.dtype),
        convex=spec.convex,
    )


class SoftmaxRisk:
    """A catalogue method for c scores: the weighted mean of ``LossSpec`` losses."""

    smooth = True

    def __init__(self, spec: LossSpec, y: Array, weight: Array, drop: Array | None) -> None:
        self.spec, self.y, self.weight, self.drop = spec, y, weight, drop
        self.n_outputs = spec.n_classes
        self.convex = spec.convex
        null = (1 / spec.scale).astype(weight.dtype)
        self.null_direction: Array | None = null / np.linalg.norm(null)
        self._kernel = SoftmaxKernel(spec, y, drop, weight, dtype=weight.dtype)

    def value(self, scores: Array) -> float:
        return float(self._kernel.loss(scores).sum(dtype=np.float64))

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        loss, gradient = self._kernel.loss_gradient(scores)
        return float(loss.sum(dtype=np.float64)), gradient

    def curvature(self, scores: Array) -> Curvature:
        return self._kernel.curvature(scores)

    def single(self) -> SoftmaxRisk:
        return SoftmaxRisk(self.spec, self.y, self.weight.astype(np.float32), self.drop)


@dataclass
class ExponentialCurvature:
    """Hessians of ``sum_{j != y} e_j``: ``sum_j e_j (u_j - u_y)(u_j - u_y)^T``, u unit vectors."""

    others: Array  # (n, c) weighted e_j / rho_y^2, zero at the target
    y: Array

    def block(self, a: int, b: int) -> Array:
        e, y = self.others, self.y
        if a == b:
            return np.where(y == a, e.sum(axis=1), e[:, a])
        return np.asarray(-np.where(y == a, e[:, b], np.where(y == b, e[:, a], 0)))

    def diagonal(self) -> Array:
        diagonal = self.others.copy()
        diagonal[np.arange(self.y.size), self.y] = self.others.sum(axis=1)
        return diagonal

    def product(self, vectors: Array) -> Array:
        rows = np.arange(self.y.size)
        out = self.others * (vectors - vectors[rows, self.y][:, None])
        out[rows, self.y] = -out.sum(axis=1)
        return out

    def total(self) -> Array:
        c = self.others.shape[1]
        member = np.equal.outer(np.arange(c), self.y).astype(self.others.dtype)
        between = member @ self.others  # (c, c): from the target's class to each other class
        total = -between - between.T
        total[np.diag_indices(c)] = between.sum(axis=1) + between.sum(axis=0)
        return np.asarray(total)


@dataclass
class ExponentialRisk:
    """Exponential IMMAX in the sum form: ``sum_{j != y} exp((h_j - h_y) / rho_y)``."""

    y: Array
    rho: Array
    weight: Array
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.n_outputs = self.rho.size
        self.null_direction: Array | None = _uniform(self.rho.size, self.weight.dtype)
        self._slope = (1 / self.rho)[self.y].astype(self.weight.dtype)
        self._rows = np.arange(self.y.size)
        self._absent = np.flatnonzero(self.weight == 0)

    def _others(self, scores: Array) -> Array:
        z = scores - scores[self._rows, self.y][:, None]
        z *= self._slope[:, None]
        z[self._absent] = 0  # nothing holds them back from overflowing
        with np.errstate(over="ignore"):
            np.exp(z, out=z)
        z *= self.weight[:, None]
        z[self._rows, self.y] = 0
        return z

    def value(self, scores: Array) -> float:
        return float(self._others(scores).sum(dtype=np.float64))

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        e = self._others(scores)
        value = float(e.sum(dtype=np.float64))
        e *= self._slope[:, None]
        e[self._rows, self.y] = -e.sum(axis=1)
        return value, e

    def curvature(self, scores: Array) -> ExponentialCurvature:
        return ExponentialCurvature(self._others(scores) * self._slope[:, None] ** 2, self.y)

    def single(self) -> ExponentialRisk:
        return ExponentialRisk(self.y, self.rho, self.weight.astype(np.float32))


@dataclass
class MaxRisk:
    """IMMAX in the max form: ``max_{j != y} Psi((h_y - h_j) / rho_y)``."""

    surrogate: Surrogate
    y: Array
    rho: Array
    weight: Array
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.n_outputs = self.rho.size
        self.margin = self.rho[self.y].astype(self.weight.dtype)
        self._rows = np.arange(self.y.size)

    def losses(self, scores: Array) -> Array:
        best = runner_up(scores, self.y)[1]
        return self.surrogate.value((scores[self._rows, self.y] - best) / self.margin)

    def value(self, scores: Array) -> float:
        return _mean(self.losses(scores), self.weight)

    def envelope(self, multipliers: Array | None, stiffness: float) -> MaxEnvelope:
        return MaxEnvelope(self, multipliers, stiffness)


class MaxEnvelope:
    """The Moreau envelope of a max form at ``scores + multipliers / stiffness``."""

    convex = True
    smooth = True

    def __init__(self, base: MaxRisk, multipliers: Array | None, stiffness: float) -> None:
        self.base = base
        # In units of u = (h_y - h_j) / rho_y, as for two classes.
        self.stiffness = (stiffness / base.margin**2).astype(base.weight.dtype)
        self.n_outputs = base.n_outputs
        self.null_direction: Array | None = _uniform(base.n_outputs, base.weight.dtype)
        self._start = 0.0 if multipliers is None else multipliers / self.stiffness[:, None]

    def _proximal(self, scores: Array) -> tuple[Array, Array]:
        """The proximal point and the slopes of the loss there."""
        shifted = scores + self._start
        base = self.base
        point = max_prox(base.surrogate, shifted, base.y, base.margin, self.stiffness)
        return point, (shifted - point) * self.stiffness[:, None]

    def value(self, scores: Array) -> float:
        return self.value_gradient(scores)[0]

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        point, slopes = self._proximal(scores)
        distance = np.einsum("ij,ij->i", slopes, slopes) / (2 * self.stiffness)
        value = _mean(self.base.losses(point) + distance, self.base.weight)
        slopes *= self.base.weight[:, None]
        return value, slopes

    def curvature(self, scores: Array) -> MaxCurvature:
        base, rows = self.base, np.arange(self.base.y.size)
        point, slopes = self._proximal(scores)
        cut = slopes > 0
        cut[rows, base.y] = False
        size = np.maximum(cut.sum(axis=1), 1).astype(scores.dtype)
        level = runner_up(point, base.y)[1]
        mass = -slopes[rows, base.y] * base.margin
        between = (1 + 1 / size) / self.stiffness
        if base.surrogate.smooth:
            bend = base.surrogate.curvature((point[rows, base.y] - level) / base.margin)
            bend = bend / base.margin**2
            bend = bend / (1 + bend * between)
        else:
            # The hinge's kink holds the margin fast; off it, the hinge is straight.
            bend = np.where((mass > 0) & (mass < 1 - 1e-12), 1 / between, 0)
        return MaxCurvature(
            cut.astype(scores.dtype), size, self.stiffness * base.weight, bend * base.weight, base.y
        )

    def dual(self, scores: Array) -> tuple[Array, Array, float]:
        point, slopes = self._proximal(scores)
        conjugate = np.einsum("ij,ij->i", slopes, point) - self.base.losses(point)
        weighted = slopes * self.base.weight[:, None]
        return slopes, weighted, -_mean(conjugate, self.base.weight)


@dataclass
class MaxCurvature:
    """Hessians of the envelope of a max form.

    ``H_i = f_i (diag a_i - a_i a_i^T / k_i) + g_i b_i b_i^T``, where a_i marks the k_i scores
    that the proximal map cuts and ``b_i = u_y - a_i / k_i``, u unit vectors.
    """

    cut: Array  # (n, c), zeros and ones
    size: Array  # (n,) number of scores cut, at least 1
    spread_weight: Array  # f
    margin_weight: Array  # g
    y: Array

    def _b(self, j: int) -> Array:
        return np.asarray((self.y == j) - self.cut[:, j] / self.size)

    def block(self, a: int, b: int) -> Array:
        spread = self.cut[:, a] * (float(a == b) - self.cut[:, b] / self.size)
        along = self.margin_weight * self._b(a) * self._b(b)
        return np.asarray(self.spread_weight * spread + along)

    def diagonal(self) -> Array:
        spread = self.cut * (1 - 1 / self.size)[:, None] * self.spread_weight[:, None]
        b = self.cut / self.size[:, None]
        b[np.arange(self.y.size), self.y] = 1
        return np.asarray(spread + b**2 * self.margin_weight[:, None])

    def product(self, vectors: Array) -> Array:
        rows = np.arange(self.y.size)
        mean = np.einsum("ij,ij->i", self.cut, vectors) / self.size
        out = self.cut * (vectors - mean[:, None]) * self.spread_weight[:, None]
        along = self.margin_weight * (vectors[rows, self.y] - mean)
        out -= self.cut * (along / self.size)[:, None]
        out[rows, self.y] += along
        return np.asarray(out)

    def total(self) -> Array:
        c = self.cut.shape[1]
        spread = np.diag(self.spread_weight @ self.cut)
        spread -= (self.cut * (self.spread_weight / self.size)[:, None]).T @ self.cut
        b = -self.cut / self.size[:, None]
        b[np.arange(self.y.size), self.y] = 1
        return np.asarray(spread + (b * self.margin_weight[:, None]).T @ b).reshape(c, c)
