"""The protocol of a comparison: its folds, its metric, and how hyper-parameters are selected."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sklearn import config_context
from sklearn.model_selection import StratifiedKFold

from immax import __version__
from immax.arrays import Array, Features
from immax.decisions.aims import Accuracy, Aim
from immax.errors import WrongCall
from immax.evaluation.aim_search import AimSearch
from immax.evaluation.candidates import CANDIDATES
from immax.evaluation.estimators import describe_choice, make_estimator
from immax.evaluation.held_out_scorer import HeldOutScorer, score_by_aim, score_by_metric
from immax.evaluation.meta_estimators import PowerSearch
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import Selection
from immax.evaluation.setting import Tuned
from immax.validation import nearest

__all__ = [
    "INNER_FOLDS",
    "FittedCandidate",
    "Protocol",
    "Split",
    "fit_candidate",
    "fold_settings",
    "make_candidate",
]

INNER_FOLDS = 3
"""The number of folds of the inner cross-validation, which selects hyper-parameters."""

LAMS = (2.5e-6, 2.5e-5, 2.5e-4, 2.5e-3, 2.5e-2, 0.25)  # C from 2/n to 200,000/n
POWERS = (-1 / 3, 0.0, 1 / 6, 1 / 3, 2 / 3, 1.0)
FEW_POWERS = (0.0, 1 / 3, 2 / 3)  # of methods whose fits take longer
THRESHOLD = "threshold"  # the candidate that tunes a threshold whatever methods are ranked by
TRIALS = 3  # grid points of a method's own hyper-parameters


class Split(NamedTuple):
    """The row numbers of the training part and of the test part of a fold.

    Those of the training part are left out where a table is streamed: there are too many of them.
    """

    train: Array
    test: Array


class FittedCandidate(NamedTuple):
    """A classifier, and the hyper-parameters that were selected, as JSON can hold them."""

    model: Any
    chosen: Mapping[str, object]


@dataclass(frozen=True)
class Protocol:
    """How methods are compared.

    Parameters
    ----------
    metric : str, default="accuracy"
        The metric that methods are ranked by, a name of ``immax.evaluation.metrics.METRICS``.
    folds : int, default=5
        The number of stratified folds.
    repeats : int, default=1
        How often the rows are split into folds.
    seed : int, default=0
        The seed of the splits and of the methods.
    aim : Aim, optional
        In place of a metric: methods are ranked by the value of the aim. Costs and budgets have no
        name, and no metric.
    max_repeats : int, optional
        While the answer is open, rows are split again up to this many times; by default, only as
        often as ``repeats`` says.
    search_rows : int, optional
        About how many training rows hyper-parameters are selected on, if the table is streamed;
        by default 100,000.

    Raises
    ------
    WrongCall
        If the metric is unknown, or if there are too few folds or repeats.
    """

    metric: str = "accuracy"
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    aim: Aim | None = None
    max_repeats: int | None = None
    search_rows: int | None = field(default=None, repr=False)  # not for tables in memory

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise WrongCall(f"unknown metric {self.metric!r}{nearest(self.metric, METRICS)}")
        if self.folds < 2 or self.repeats < 1:
            raise WrongCall("there must be at least 2 folds and 1 repeat")
        if self.max_repeats is not None and self.max_repeats < self.repeats:
            raise WrongCall(
                f"max_repeats must be at least repeats, {self.repeats}; got {self.max_repeats}"
            )

    @property
    def most_repeats(self) -> int:
        """The number of repeats if the answer stays open."""
        return self.repeats if self.max_repeats is None else self.max_repeats

    @property
    def planned_folds(self) -> int:
        """The number of folds of all repeats but those that are for open answers alone."""
        return self.folds * self.repeats

    def splits(self, codes: Array) -> tuple[Split, ...]:
        """Return the folds of all repeats, also of those that are for open answers alone.

        Parameters
        ----------
        codes : ndarray of shape (n,)
            The class of each row.

        Returns
        -------
        tuple of Split
            Of length ``most_repeats * folds``.
        """
        splits: list[Split] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes may have fewer rows than there are folds
            for repeat in range(self.most_repeats):
                folds = StratifiedKFold(self.folds, shuffle=True, random_state=self.seed + repeat)
                splits += [Split(train, test) for train, test in folds.split(codes, codes)]
        return tuple(splits)

    def scorer(self, classes: Array, counts: Array) -> HeldOutScorer:
        """Return what methods are ranked by on data with these classes.

        Parameters
        ----------
        classes : ndarray of shape (c,)
        counts : ndarray of shape (c,)
            The number of rows of each class.

        Returns
        -------
        HeldOutScorer
            Its aim is None for the accuracy, for which methods decide by themselves.

        Raises
        ------
        WrongCall
            If the aim does not suit the classes.
        """
        if self.aim is not None:
            return score_by_aim(self.aim, classes, counts)
        scorer = score_by_metric(METRICS[self.metric], counts)
        return replace(scorer, aim=None) if isinstance(scorer.aim, Accuracy) else scorer


def fold_settings(protocol: Protocol) -> tuple[object, ...]:
    """Return what the results of a fold depend on besides the data and the method.

    They do not depend on the number of repeats.

    Parameters
    ----------
    protocol : Protocol

    Returns
    -------
    tuple
        Its ``repr`` is the same in every process.
    """
    protocol = replace(protocol, repeats=1, max_repeats=None)
    return protocol, list(LAMS), list(POWERS), list(FEW_POWERS), INNER_FOLDS, __version__


def make_candidate(name: str, y: Array, protocol: Protocol, scorer: HeldOutScorer) -> Tuned:
    """Return a candidate as an estimator that selects its hyper-parameters when it is fitted.

    Parameters
    ----------
    name : str
        A name of ``CANDIDATES``.
    y : ndarray of shape (n,)
        The labels that the estimator will be fitted to.
    protocol : Protocol
    scorer : HeldOutScorer
        If it has an aim, so does the candidate: its decisions are fitted to it.

    Returns
    -------
    estimator
        If it has a method ``for_aim``, the classifier is ``for_aim(scorer.name)``.
    """
    candidate = CANDIDATES[name]
    selection = Selection(
        folds=INNER_FOLDS,
        trials=TRIALS,
        scoring=scorer.selector,
        lams=LAMS[2:] if candidate.method == "immax_hinge" else LAMS,
        powers=POWERS if name == "immax" else FEW_POWERS,
    )
    model = make_estimator(
        candidate.model,
        candidate.method,
        y,
        selection,
        {},
        protocol.seed,
        # A threshold is tuned for accuracy too: with the penalty that is best without one.
        decided_for=None if scorer.aim is None and name != THRESHOLD else scorer,
        balanced=candidate.balanced,
    )
    if isinstance(model, PowerSearch):
        return model.set_params(halve=True)
    if isinstance(model, AimSearch):
        model.halve = candidate.model == "trees"
    return model


def fit_candidate(
    name: str, X: Features, y: Array, protocol: Protocol, scorer: HeldOutScorer
) -> FittedCandidate:
    """Fit a candidate, with its hyper-parameters and decisions.

    Parameters
    ----------
    name : str
        A name of ``CANDIDATES``.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    protocol : Protocol
    scorer : HeldOutScorer

    Returns
    -------
    FittedCandidate
    """
    # The parameters of candidates are known to be valid; checking them for each fit takes its time.
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")  # some corners of a grid do not converge
        search: Any = make_candidate(name, y, protocol, scorer).fit(X, y)
    if not hasattr(search, "for_aim"):
        return FittedCandidate(search, describe_choice(search))
    return FittedCandidate(search.for_aim(scorer.name), describe_choice(search, scorer.name))
