"""Scores of the decisions of a cell: by a scorer, or by an aim with the best rule for it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.utils import _safe_indexing

from immax.arrays import Array, Features
from immax.decisions import Aim, Costs, LogLoss, Rule, fit_rule
from immax.decisions.confusion import confusion_matrix
from immax.decisions.scorers import ScorerAim
from immax.routing import SampleMetadata
from immax.search.predictions import HeldOutPredictions
from immax.search.scoring import Scorer

__all__ = ["AimCriterion", "CellScores", "Criterion", "ScorerCriterion", "TestSamples"]


class CellScores(NamedTuple):
    """Scores of the rules of a cell (rows) on the tests (columns)."""

    rules: Sequence[str | Rule]
    splits: Array
    totals: Array  # by which cells are compared, one for each rule
    without: Array  # the same without the samples of each test


@dataclass(frozen=True)
class TestSamples:
    """The samples that all cells are scored on.

    Attributes
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        The features as they were given, for scorers that look at them.
    y : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,), optional
        Sample weights.
    classes : ndarray of shape (c,)
        The labels.
    groups : sequence of ndarray of int
        The positions of the samples of each test.
    rows : ndarray of int, shape (n,), optional
        Which of all samples these are.
    """

    X: Features
    y: Array
    weight: Array | None
    classes: Array
    groups: Sequence[Array]
    rows: Array | None = None
    _parts: dict[int, Features] = field(default_factory=dict, repr=False)

    @property
    def labels(self) -> Array:
        """The labels of the samples."""
        return np.asarray(self.classes[self.y])

    def features(self, group: int) -> Features:
        """Return the features of the samples of a test.

        Parameters
        ----------
        group : int
            The number of the test, an index of ``groups``.

        Returns
        -------
        {array-like, sparse matrix, data frame} of shape (n_test, d)
        """
        if group not in self._parts:
            self._parts[group] = _safe_indexing(self.X, self.groups[group])
        return self._parts[group]


class Criterion(Protocol):
    """The criterion by which cells are compared."""

    @property
    def n_rules(self) -> int:
        """The number of rules of a cell."""

    def score(self, model: HeldOutPredictions, samples: TestSamples) -> CellScores:
        """Return the scores of a cell.

        Parameters
        ----------
        model : HeldOutPredictions
            The predictions of the cell for the samples.
        samples : TestSamples
            The samples that all cells are scored on.

        Returns
        -------
        CellScores
        """


@dataclass(frozen=True)
class ScorerCriterion:
    """The mean of a scorer over the tests, by each of some rules.

    Attributes
    ----------
    scorer : Scorer
        By which predictions are scored.
    rules : sequence of {"score", "bayes"}
        The decision rules.
    """

    scorer: Scorer
    rules: Sequence[str]

    @property
    def n_rules(self) -> int:
        """The number of rules of a cell."""
        return len(self.rules)

    def score(self, model: HeldOutPredictions, samples: TestSamples) -> CellScores:
        """Return the scores of a cell by every rule.

        Parameters
        ----------
        model : HeldOutPredictions
            Predictions for the samples.
        samples : TestSamples
            The samples.

        Returns
        -------
        CellScores
        """
        splits = np.array([score_tests(self.scorer, model, rule, samples) for rule in self.rules])
        totals = splits.mean(axis=1)
        n = splits.shape[1]
        without = (n * totals[:, None] - splits) / (n - 1) if n > 1 else splits
        return CellScores(list(self.rules), splits, totals, without)


def score_tests(
    scorer: Scorer, model: HeldOutPredictions, rule: str | Rule, samples: TestSamples
) -> list[float]:
    """Return the score of each test.

    Parameters
    ----------
    scorer : Scorer
        By which predictions are scored.
    model : HeldOutPredictions
        Predictions for the samples.
    rule : {"score", "bayes"} or Rule
        The decision rule.
    samples : TestSamples
        The samples.

    Returns
    -------
    list of float
    """
    return scorer.score_groups(
        model.with_rule(rule),
        samples.features,
        samples.labels,
        samples.weight,
        samples.groups,
        samples.rows,
    )


@dataclass(frozen=True)
class AimCriterion:
    """The value of an aim, after the rule that serves it best on the samples of all tests.

    Attributes
    ----------
    aim : Aim
        What decisions are for.
    pos_label : label, optional
        The class that aims for two classes are about; by default the rarer one.
    evidence : float, default=1.0
        As in ``fit_rule``.
    metadata : SampleMetadata, optional
        What routing gives an aim that is a scorer, of all samples.
    """

    aim: Aim
    pos_label: object = None
    evidence: float = 1.0
    metadata: SampleMetadata | None = None

    @property
    def n_rules(self) -> int:
        """The number of rules of a cell."""
        return 1

    def fit(self, model: HeldOutPredictions, samples: TestSamples, *, quick: bool = False) -> Rule:
        """Fit the rule that serves the aim best.

        Parameters
        ----------
        model : HeldOutPredictions
            Predictions for the samples.
        samples : TestSamples
            The samples.
        quick : bool, default=False
            As in ``fit_rule``.

        Returns
        -------
        Rule
        """
        return fit_rule(
            model.held_out.proba,
            samples.labels,
            self._aim(samples),
            classes=samples.classes,
            sample_weight=samples.weight,
            pos_label=self.pos_label,
            evidence=self.evidence,
            quick=quick,
        )

    def score(self, model: HeldOutPredictions, samples: TestSamples) -> CellScores:
        """Return the scores of a cell.

        Parameters
        ----------
        model : HeldOutPredictions
            Predictions for the samples.
        samples : TestSamples
            The samples.

        Returns
        -------
        CellScores
        """
        with warnings.catch_warnings():
            # That a cell does not meet a constraint matters only if it is chosen.
            warnings.filterwarnings("ignore", "no threshold has", UserWarning)
            rule = self.fit(model, samples, quick=True)
        total, splits, without = self.values(rule, model.held_out.proba, samples)
        return CellScores([rule], splits[None], np.array([total]), without[None])

    def values(self, rule: Rule, proba: Array, samples: TestSamples) -> tuple[float, Array, Array]:
        """Return the aim's value, its values on the tests, and the value without each of them.

        The value is the mean over the tests. Constraints are those of all samples together: few
        tests meet a precision of 0.9 exactly.

        Parameters
        ----------
        rule : Rule
            The rule.
        proba : ndarray of shape (n, c)
            Probabilities of the samples.
        samples : TestSamples
            The samples.

        Returns
        -------
        total : float
        splits, without : ndarray of shape (n_tests,)
        """
        aim = self._aim(samples)
        if isinstance(aim, LogLoss):
            return _log_likelihoods(proba, samples)
        decisions = rule.decide(proba)
        if isinstance(aim, ScorerAim):
            return _values_by_calls(aim, rule.classes[decisions], samples)
        c, a = rule.gains.shape
        weight = samples.weight
        tables = np.stack(
            [
                confusion_matrix(
                    samples.y[rows], decisions[rows], c, a, None if weight is None else weight[rows]
                )
                for rows in samples.groups
            ]
        )
        positive = int(rule.positive or 0)
        total = tables.sum(axis=0)
        splits = np.asarray(aim.value(tables, positive))
        if not aim.constrained:
            return _mean_over_tests(splits)
        without = np.asarray(aim.value(total - tables, positive)) if len(tables) > 1 else splits
        return float(aim.value(total, positive)), splits, without

    def _aim(self, samples: TestSamples) -> Aim:
        if isinstance(self.aim, Costs):
            return self.aim.for_classes(samples.classes)
        if isinstance(self.aim, ScorerAim):
            own = self.metadata
            if own is not None and samples.rows is not None:
                own = own.part(samples.rows)
            return replace(self.aim, X=samples.X, metadata=own)
        return self.aim


def _log_likelihoods(proba: Array, samples: TestSamples) -> tuple[float, Array, Array]:
    own = proba[np.arange(len(proba)), samples.y]
    logs = np.log(np.maximum(own, np.finfo(np.float64).eps))
    weight = np.ones(len(logs)) if samples.weight is None else samples.weight
    sums = np.array([weight[rows] @ logs[rows] for rows in samples.groups])
    sizes = np.array([weight[rows].sum() for rows in samples.groups])
    total = float(sums.sum() / sizes.sum())
    splits = sums / sizes
    if len(sums) == 1:
        return total, splits, splits
    return total, splits, (sums.sum() - sums) / (sizes.sum() - sizes)


def _values_by_calls(
    aim: ScorerAim, labels: Array, samples: TestSamples
) -> tuple[float, Array, Array]:
    def value(rows: Array) -> float:
        metadata = None if aim.metadata is None else aim.metadata.part(rows)
        own = replace(aim, X=_safe_indexing(samples.X, rows), metadata=metadata)
        weight = None if samples.weight is None else samples.weight[rows]
        return own.value_of_labels(samples.labels[rows], labels[rows], weight)

    return _mean_over_tests(np.array([value(rows) for rows in samples.groups]))


def _mean_over_tests(splits: Array) -> tuple[float, Array, Array]:
    total, n = float(splits.mean()), splits.size
    return total, splits, (n * total - splits) / (n - 1) if n > 1 else splits


def score_others(
    scorers: Mapping[str, Scorer],
    model: HeldOutPredictions,
    rules: Sequence[str | Rule],
    samples: TestSamples,
) -> dict[str, Array]:
    """Return the scores of a cell by further metrics, rules in rows and tests in columns.

    Parameters
    ----------
    scorers : mapping of str to Scorer
        The metrics.
    model : HeldOutPredictions
        Predictions for the samples.
    rules : sequence of str or Rule
        The rules of the cell.
    samples : TestSamples
        The samples.

    Returns
    -------
    dict of str to ndarray of shape (n_rules, n_tests)
    """
    return {
        name: np.array([score_tests(scorer, model, rule, samples) for rule in rules])
        for name, scorer in scorers.items()
    }
