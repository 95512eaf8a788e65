"""The folds that methods are compared on: those that were finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from immax.compare.fold_cache import FoldResult
from immax.compare.protocol import Protocol as ComparisonProtocol
from immax.compare.results import Comparison
from immax.compare.verdict import is_open
from immax.evaluation.candidates import PLAIN

__all__ = ["FoldRunner", "GoOn", "run_folds"]

FEWEST_FOLDS = 2  # without two folds nothing is known about the variation between them

GoOn: TypeAlias = Callable[[int], bool]
"""Called with the number of finished folds; whether rows are to be split again."""


class FoldRunner(Protocol):
    """What runs methods on folds.

    Attributes
    ----------
    results : dict of str to dict of int to FoldResult
        For each method, the results by fold.
    failed : dict of str to str
        The first line of the error of each method that failed.
    """

    results: dict[str, dict[int, FoldResult]]
    failed: dict[str, str]


def run_folds(
    comparison: Comparison, runner: FoldRunner, run: Callable[[GoOn], None]
) -> Comparison:
    """Run methods on folds, and return a comparison on those that are finished.

    Parameters
    ----------
    comparison : Comparison
        Without results, with the folds of all repeats.
    runner : FoldRunner
    run : callable
        Fills the runner's results. Its argument says whether to go on with another repeat.

    Returns
    -------
    Comparison

    Raises
    ------
    TimeoutError
        If not even plain logistic regression was finished on two folds within the time limit.
    """
    protocol, n_folds = comparison.protocol, len(comparison.splits)

    def gather(n_folds: int) -> Comparison:
        return _gather(comparison, runner, _used_folds(runner.results, protocol, n_folds))

    run(lambda n_folds: is_open(gather(n_folds)))
    if _used_folds(runner.results, protocol, n_folds).n_folds < min(FEWEST_FOLDS, n_folds):
        raise TimeoutError(
            "not even plain logistic regression was done on two folds within the time limit"
        )
    finished = gather(n_folds)
    unfinished = {
        name: len(own)
        for name, own in runner.results.items()
        if name not in finished.fold_results and name not in runner.failed
    }
    left_out = {
        **comparison.left_out,
        **{name: f"failed: {why}" for name, why in runner.failed.items()},
        **{
            name: f"not finished within the time limit: {done} of {protocol.planned_folds} folds"
            for name, done in unfinished.items()
        },
    }
    return replace(
        finished, left_out=MappingProxyType(left_out), unfinished=MappingProxyType(unfinished)
    )


class _Used(NamedTuple):
    methods: Sequence[str]
    n_folds: int


def _gather(comparison: Comparison, runner: FoldRunner, used: _Used) -> Comparison:
    results = {
        name: tuple(runner.results[name][k] for k in range(used.n_folds)) for name in used.methods
    }
    splits = comparison.splits[: used.n_folds]
    return replace(comparison, splits=splits, fold_results=MappingProxyType(results))


def _used_folds(
    results: Mapping[str, Mapping[int, FoldResult]], protocol: ComparisonProtocol, n_folds: int
) -> _Used:
    """Return the folds to compare on: those that most methods have finished, as many as can be.

    Of repeats for open answers, only whole ones count.
    """
    best = _Used((), 0)
    for count in range(min(FEWEST_FOLDS, n_folds), n_folds + 1):
        if count > protocol.planned_folds and count % protocol.folds:
            continue
        done = [name for name, own in results.items() if all(k in own for k in range(count))]
        if PLAIN in done and len(done) >= len(best.methods):
            best = _Used(done, count)
    return best
