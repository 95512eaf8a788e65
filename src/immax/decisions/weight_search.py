"""Class weights that serve an aim best, for three classes and more.

Decisions are ``argmax_k (log p_k + b_k)``. Along one ``b_k`` all values that decide differently are
compared at once: as it grows, samples move to class k in the order of how far behind it is. Passes
over the classes are made from several starts, since a single ascent ends at a local optimum. One
of the starts is a fixed point in the manner of Dinkelbach: the aim is replaced by its linear
approximation at the present decisions, whose best weights have a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.decisions.aim import TotalsAim
from immax.decisions.confusion import Totals
from immax.decisions.top_two import TopTwo

__all__ = ["search_weights"]

MOST_CUTS, LEAST_CUTS = 256, 32  # that are compared at once
MOST_ENTRIES = 16_384  # of the totals of cuts that are compared at once
MOST_PASSES = 12
MOST_LINEARISATIONS = 20
STEP = 1e-4  # of the numerical derivative, as a share of all samples
GAP = 1e-9  # samples whose distances differ by less move together


def search_weights(
    proba: Array, soft: Array, aim: TotalsAim, prior: Array, *, quick: bool = False
) -> Array:
    """Return the weights of the best value that was found, the largest of them one.

    Parameters
    ----------
    proba : ndarray of shape (n, c)
    soft : ndarray of shape (n, c)
        How much each sample counts for each class.
    aim : TotalsAim
    prior : ndarray of shape (c,)
    quick : bool, default=False
        Make two passes from one start, the square roots of the inverse class shares.

    Returns
    -------
    ndarray of shape (c,)
    """
    with np.errstate(divide="ignore"):  # a class of probability zero is never decided for
        log_p = np.log(proba)
    sample = _Sample(log_p, soft, soft.sum(axis=1), soft.sum(axis=0), aim)
    log_prior = np.log(prior)
    best, best_value = np.zeros(len(prior)), -np.inf
    passes = 2 if quick else MOST_PASSES
    # from the plain rule to that of balanced accuracy
    starts = [power * log_prior for power in ((-0.5,) if quick else (0.0, -0.5, -1.0))]
    if not quick:
        starts.append(_linearised(sample, starts[1]))
    for start in starts:
        offsets, value = _ascend(sample, start, passes)
        if value > best_value + 1e-9:
            best, best_value = offsets, value
    return np.asarray(np.exp(best - best.max()))


@dataclass(frozen=True, eq=False)
class _Sample:
    log_p: Array  # (n, c)
    soft: Array  # (n, c)
    weight: Array  # (n,), sums of rows
    samples: Array  # (c,), sums of columns
    aim: TotalsAim

    def totals(self, decisions: Array) -> Totals:
        c = len(self.samples)
        own = self.soft[np.arange(len(decisions)), decisions]
        return Totals(
            np.bincount(decisions, weights=own, minlength=c),
            self.samples,
            np.bincount(decisions, weights=self.weight, minlength=c),
        )

    def value(self, decisions: Array) -> float:
        return float(self.aim.value_of_totals(self.totals(decisions)))


def _ascend(sample: _Sample, start: Array, passes: int) -> tuple[Array, float]:
    state = TopTwo(sample.log_p, start)
    value = sample.value(state.first)
    for _ in range(passes):
        before = value
        for k in np.argsort(sample.samples):  # rare classes first: they matter most
            offset, new = _Line.of(sample, state, int(k)).best(state.offsets[k])
            if new > value + 1e-9:
                state.move(int(k), offset)
                value = new
        if value <= before + 1e-6:
            break
    return state.offsets, value


@dataclass(frozen=True, eq=False)
class _Line:
    """What happens as the offset of one class grows, the others given.

    Attributes
    ----------
    behind : ndarray of shape (m,)
        How far the class is behind, of the samples that it could win or lose, ascending.
    rival : ndarray of int, shape (m,)
        The decisions for these samples where they are not for the class.
    lost, won, weight : ndarray of shape (m,)
        How much the samples count for the rival, for the class, and altogether.
    start : Totals
        Of all samples, where none of these belongs to the class.
    """

    k: int
    aim: TotalsAim
    behind: Array
    rival: Array
    lost: Array
    won: Array
    weight: Array
    start: Totals

    @classmethod
    def of(cls, sample: _Sample, state: TopTwo, k: int) -> _Line:
        leads = state.first == k
        rival = np.where(leads, state.second, state.first)
        behind = np.where(leads, state.low, state.high) - sample.log_p[:, k]
        order = np.argsort(behind)
        ends = np.searchsorted(behind[order], [-np.inf, np.inf], side="right")
        own, never = order[: ends[0]], np.isposinf(behind)  # whatever the offset
        rows = order[ends[0] : len(order) - int(never.sum())]
        decisions = rival.copy()
        decisions[own] = k
        return cls(
            k,
            sample.aim,
            behind[rows],
            rival[rows],
            sample.soft[rows, rival[rows]],
            sample.soft[rows, k],
            sample.weight[rows],
            sample.totals(decisions),
        )

    def best(self, present: float) -> tuple[float, float]:
        """Return the best offset, and the value there."""
        m, c = len(self.behind), len(self.start.samples)
        if not m:
            return present, -np.inf
        cuts = np.r_[0, np.flatnonzero(np.diff(self.behind) > GAP) + 1, m]
        while True:
            tried = _spread(len(cuts), max(LEAST_CUTS, min(MOST_CUTS, MOST_ENTRIES // c)))
            values = self._values(cuts[tried])
            best = int(np.argmax(values))
            if len(tried) == len(cuts):
                break
            low, high = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
            cuts = cuts[low : high + 1]
        cut = int(cuts[best])
        low = self.behind[cut - 1] if cut else self.behind[0] - 2
        high = self.behind[cut] if cut < m else self.behind[-1] + 2
        return float((low + high) / 2), float(values[best])

    def _values(self, cuts: Array) -> Array:
        """Return the aim's values where the first ``cuts[t]`` of the samples belong to class k."""
        c, n_cuts = len(self.start.samples), len(cuts)
        after = np.searchsorted(cuts, np.arange(len(self.behind)), side="right")

        def moved(values: Array, columns: Array, n_columns: int) -> Array:
            size = (n_cuts + 1) * n_columns
            each = np.bincount(after * n_columns + columns, weights=values, minlength=size)
            return each.reshape(n_cuts + 1, n_columns)[:n_cuts].cumsum(axis=0)

        one = np.zeros_like(self.rival)
        hits = self.start.hits - moved(self.lost, self.rival, c)
        predictions = self.start.predictions - moved(self.weight, self.rival, c)
        hits[:, self.k] += moved(self.won, one, 1)[:, 0]
        predictions[:, self.k] += moved(self.weight, one, 1)[:, 0]
        samples = np.broadcast_to(self.start.samples, hits.shape)
        totals = Totals(np.maximum(hits, 0), samples, np.maximum(predictions, 0))
        return np.asarray(self.aim.value_of_totals(totals))


def _spread(n: int, most: int) -> Array:
    """Return some of the indices below n: evenly spread ones, and more of them near the ends."""
    if n <= most:
        return np.arange(n)
    even = np.linspace(0, n - 1, most // 2)
    near = np.geomspace(1, n - 1, most // 4)
    return np.unique(np.r_[even, near, n - 1 - near].round().astype(np.intp))


def _linearised(sample: _Sample, offsets: Array) -> Array:
    """Return the best of the offsets that follow from repeated linear approximations of the aim.

    Where the aim is linear with gradient G, the gain of a decision for class k is
    ``sum_j p_j G_jk``. The weight of a class is what a right decision for it gains over the
    present wrong ones.
    """
    best = offsets
    decisions = TopTwo(sample.log_p, offsets).first
    best_value = sample.value(decisions)
    for _ in range(MOST_LINEARISATIONS):
        weights = _linear_weights(sample, decisions)
        if not (weights > 0).all():
            break
        offsets = np.log(weights)
        decisions = TopTwo(sample.log_p, offsets).first
        value = sample.value(decisions)
        if value <= best_value + 1e-9:
            break
        best, best_value = offsets, value
    return best


def _linear_weights(sample: _Sample, decisions: Array) -> Array:
    """Return the class weights that the linear approximation of the aim implies."""
    c = len(sample.samples)
    totals = sample.totals(decisions)
    by_hits = _gradient(sample.aim, totals, "hits")
    by_samples = _gradient(sample.aim, totals, "samples")
    wrong: Array = np.stack(
        [np.bincount(decisions, weights=sample.soft[:, k], minlength=c) for k in range(c)]
    )
    wrong = wrong + STEP * sample.samples[:, None]  # none is empty
    np.fill_diagonal(wrong, 0)
    instead = (wrong * by_samples[:, None]).sum(axis=0) / wrong.sum(axis=0)
    return np.asarray(by_hits + by_samples - instead)


def _gradient(aim: TotalsAim, totals: Totals, field: str) -> Array:
    """Return the derivatives of the aim in one of the totals, class by class."""
    present = getattr(totals, field)
    moves = STEP * totals.samples.sum() * np.eye(len(present))
    ahead, behind = present + moves, np.maximum(present - moves, 0)

    def value(moved: Array) -> Array:
        every = {name: np.broadcast_to(own, moved.shape) for name, own in totals._asdict().items()}
        return aim.value_of_totals(Totals(**{**every, field: moved}))

    return np.asarray((value(ahead) - value(behind)) / (ahead - behind).sum(axis=1))
