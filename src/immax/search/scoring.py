"""scikit-learn's scorers, and what they require of a classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from sklearn.metrics import check_scoring, get_scorer

from immax.arrays import Array, Features
from immax.decisions import AIMS, Aim
from immax.decisions.confusion import confusion_matrix
from immax.routing import SampleMetadata
from immax.search.predictions import HeldOutPredictions, log_probabilities
from immax.search.probing import ProbingClassifier, takes_weights

__all__ = ["Scorer", "ScorerFunction", "Scoring", "group_means", "resolve_scoring"]

ScorerFunction: TypeAlias = Callable[..., float]
"""A function of an estimator, features and labels, and perhaps of ``sample_weight``."""

Scoring: TypeAlias = str | ScorerFunction | None
"""A scorer by its name, a function, or None for the accuracy."""


def _hits(model: HeldOutPredictions, y: Array) -> Array:
    return np.asarray(model.predict(None) == y)


PerSample: TypeAlias = Callable[[HeldOutPredictions, Array], Array]


class _Known(NamedTuple):
    """A scorer that is a mean over samples."""

    function: PerSample
    uses_labels: bool


PER_SAMPLE: Mapping[str, _Known] = MappingProxyType(
    {"accuracy": _Known(_hits, True), "neg_log_loss": _Known(log_probabilities, False)}
)
"""The most common scorers as means over samples."""


def resolve_scoring(scoring: Scoring) -> ScorerFunction:
    """Return the scorer that a parameter stands for.

    Parameters
    ----------
    scoring : str, callable or None
        The name of a scorer, a function of (estimator, X, y), or None for the accuracy.

    Returns
    -------
    callable
        The scorer.

    Raises
    ------
    ValueError
        If there is no such scorer.
    """
    if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(f"scoring must be the name of a scorer or a callable; got {scoring!r}")
    return check_scoring(scoring="accuracy" if scoring is None else scoring)


@dataclass(frozen=True)
class Scorer:
    """A scorer with what it requires of a classifier.

    Attributes
    ----------
    function : callable
        The scorer.
    uses_labels : bool
        Whether it calls ``predict``, so that its scores depend on the decision rule.
    uses_weights : bool
        Whether it takes ``sample_weight``.
    per_sample : callable, optional
        For scores that are means over samples: the contribution of each, computed without
        scikit-learn's validation, which takes longer than a fit.
    aim : Aim, optional
        For scores that depend on the confusion matrix alone, computed from it likewise.
    positive : int, default=1
        The class that aims for two classes are about: that of the label 1, as in scikit-learn.
    only_labels : bool, default=False
        Whether it looks at nothing but labels, so that it can be an aim.
    metadata : SampleMetadata, optional
        What it is given of all samples with scikit-learn's metadata routing; by default the
        weights, if it takes them.
    """

    function: ScorerFunction
    uses_labels: bool
    uses_weights: bool = True
    per_sample: PerSample | None = None
    aim: Aim | None = None
    positive: int = 1
    only_labels: bool = False
    metadata: SampleMetadata | None = None

    @classmethod
    def probe(
        cls,
        scoring: Scoring,
        X: Features,
        y: Array,
        weight: Array | None,
        classes: Array,
        metadata: SampleMetadata | None = None,
        rows: Array | None = None,
    ) -> Scorer:
        """Find out what a scorer requires, by letting it score perfect predictions.

        Parameters
        ----------
        scoring : str, callable or None
            As in ``resolve_scoring``.
        X : {ndarray, sparse matrix} of shape (n, d)
            Features of some held-out samples, for scorers that look at them.
        y : ndarray of shape (n,)
            Their labels.
        weight : ndarray of shape (n,), optional
            Their weights.
        classes : ndarray of shape (c,)
            All labels.
        metadata : SampleMetadata, optional
            What routing gives the scorer, of all samples.
        rows : ndarray of int, shape (n,), optional
            Which of all samples the held-out ones are, for ``metadata``.

        Returns
        -------
        Scorer
            The scorer with its requirements.
        """
        function = resolve_scoring(scoring)
        name = _name_of(scoring, function, metadata)
        known = None if name is None else PER_SAMPLE.get(name)
        if known is not None:
            labels = known.uses_labels
            return cls(
                function,
                labels,
                per_sample=known.function,
                only_labels=labels,
                metadata=metadata,
            )
        model = ProbingClassifier(X, y, classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of perfect predictions say nothing
            uses_weights = False
            if metadata is not None and rows is not None:
                function(model, X, y, **metadata.part(rows).values)
            else:
                uses_weights = weight is not None and takes_weights(function, model, X, y, weight)
                if not uses_weights:
                    function(model, X, y)
        aim = AIMS[scoring]() if isinstance(scoring, str) and scoring in AIMS else None
        labels = "predict" in model.requested
        positive = int(np.argmax(classes == 1)) if aim is not None and aim.two_classes else 1
        only = model.requested == {"predict"}
        return cls(function, labels, uses_weights, None, aim, positive, only, metadata)

    def score_groups(
        self,
        model: HeldOutPredictions,
        features: Callable[[int], Features],
        y: Array,
        weight: Array | None,
        groups: Sequence[Array],
        rows: Array | None = None,
    ) -> list[float]:
        """Return the score of each group of samples.

        Parameters
        ----------
        model : HeldOutPredictions
            Predictions for all samples.
        features : callable
            Returns the features of a group, by its number.
        y : ndarray of shape (n,)
            Their labels.
        weight : ndarray of shape (n,), optional
            Their weights.
        groups : sequence of ndarray of int
            The rows of each group.
        rows : ndarray of int, shape (n,), optional
            Which of all samples these are, for the scorer's metadata.

        Returns
        -------
        list of float
            A score for each group.
        """
        own = self.metadata
        if own is not None and rows is not None:
            own = own.part(rows)
            given = own.values.get("sample_weight")
            weight = None if given is None else np.asarray(given, dtype=np.float64)
        if self.per_sample is not None:
            return group_means(self.per_sample(model, y), weight, groups)
        if self.aim is not None:
            return self._aim_values(model, y, weight, groups)
        if own is None:
            takes = weight is not None and self.uses_weights
            own = SampleMetadata(len(y), {"sample_weight": weight} if takes else {})
        scores = []
        for number, group in enumerate(groups):
            X, part = features(number), own.part(group).values
            scores.append(float(self.function(model.subset(group).of_rows(X), X, y[group], **part)))
        return scores

    def _aim_values(
        self, model: HeldOutPredictions, y: Array, weight: Array | None, groups: Sequence[Array]
    ) -> list[float]:
        """Return the values of a metric that depends on the confusion matrix alone."""
        assert self.aim is not None
        classes = model.classes_
        true, labels = np.searchsorted(classes, y), np.searchsorted(classes, model.predict(None))
        c = len(classes)
        tables = [
            confusion_matrix(
                true[rows], labels[rows], c, c, None if weight is None else weight[rows]
            )
            for rows in groups
        ]
        return [float(value) for value in self.aim.value(np.stack(tables), self.positive)]


def _name_of(
    scoring: Scoring, function: ScorerFunction, metadata: SampleMetadata | None
) -> str | None:
    """Return the name of a scorer.

    With routing, weights go to objects alone, since names have no requests: the objects that stand
    for a mean over samples are then known too.
    """
    if scoring is None or isinstance(scoring, str):
        return scoring or "accuracy"
    if metadata is None:
        return None
    return next((name for name in PER_SAMPLE if _is_same(function, get_scorer(name))), None)


def _is_same(scorer: ScorerFunction, other: ScorerFunction) -> bool:
    """Return whether scorers differ in their requests at most."""
    if type(scorer) is not type(other):
        return False
    own, others = (
        {name: value for name, value in vars(each).items() if name != "_metadata_request"}
        for each in (scorer, other)
    )
    return own == others


def group_means(values: Array, weight: Array | None, groups: Sequence[Array]) -> list[float]:
    """Return the weighted mean over each group of samples.

    Parameters
    ----------
    values : ndarray of shape (n,)
        A value for each sample.
    weight : ndarray of shape (n,), optional
        Sample weights; equal by default.
    groups : sequence of ndarray of int
        The rows of each group.

    Returns
    -------
    list of float
        A mean for each group.
    """
    weights = [None if weight is None else weight[rows] for rows in groups]
    pairs = zip(groups, weights, strict=True)
    return [float(np.average(values[rows], weights=own)) for rows, own in pairs]
