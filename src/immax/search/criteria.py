"""What a search is for: the criterion that its parameters stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.decisions import Aim, Costs, LogLoss, resolve_aim
from immax.decisions.scorers import ScorerAim
from immax.routing import SampleMetadata
from immax.search.cell_scores import AimCriterion, Criterion, ScorerCriterion
from immax.search.scoring import Scorer, ScorerFunction, Scoring, resolve_scoring

__all__ = [
    "CalledScorers",
    "Purpose",
    "ScoreMetadata",
    "SearchGoal",
    "called_scorers",
    "resolve_aim_of",
    "resolve_purpose",
]

ONE_SIDED = ("precision", "recall")  # which a constant prediction makes perfect


class SearchGoal(NamedTuple):
    """The parameters of a search that say what it is for."""

    aim: str | Aim | Callable[..., float] | None
    costs: ArrayLike | None
    scoring: Any
    refit: bool | str
    rule: str
    pos_label: object
    evidence: float

    @property
    def need_probabilities(self) -> bool:
        """Whether machines without probabilities are to be calibrated."""
        asked = self.aim is not None or self.costs is not None
        return asked or self.scoring not in (None, "accuracy")


class Purpose(NamedTuple):
    """What a search is for."""

    criterion: Criterion
    uses_labels: bool  # whether cells are compared by labels, which need less precision
    others: Mapping[str, Scorer]  # further metrics of the table


class CalledScorers(NamedTuple):
    """The scorers of scikit-learn that a search calls."""

    single: ScorerFunction | None  # by which cells are compared
    many: Mapping[str, ScorerFunction]  # if there are several metrics
    aim: ScorerFunction | None  # which decisions are for


class ScoreMetadata(NamedTuple):
    """What routing gives the scorers of a search."""

    named: Mapping[str, SampleMetadata]
    aim: SampleMetadata | None


def called_scorers(goal: SearchGoal) -> CalledScorers:
    """Return the scorers that a search calls, which may ask for metadata.

    Parameters
    ----------
    goal : SearchGoal
        Parameters of the search.

    Returns
    -------
    CalledScorers
    """
    aim = resolve_aim_of(goal)
    scorers = {name: resolve_scoring(one) for name, one in _named(goal.scoring).items()}
    many = _is_many(goal.scoring)
    return CalledScorers(
        None if many or aim is not None else scorers["score"],
        scorers if many else {},
        aim.scorer if isinstance(aim, ScorerAim) else None,
    )


def resolve_aim_of(goal: SearchGoal) -> Aim | None:
    """Return the aim that was asked for by ``aim`` or ``costs``.

    Parameters
    ----------
    goal : SearchGoal
        Parameters of a search.

    Returns
    -------
    Aim or None

    Raises
    ------
    ValueError
        If parameters contradict each other.
    """
    if goal.aim is None and goal.costs is None:
        return None
    if goal.aim is not None and goal.costs is not None:
        raise ValueError("aim and costs exclude each other; aim=Costs(...) takes costs too")
    if goal.rule != "auto":
        raise ValueError(f"an aim finds its own rule: rule must be 'auto'; got rule={goal.rule!r}")
    if not _is_many(goal.scoring) and goal.scoring not in (None, "accuracy"):
        raise ValueError(
            f"aim and scoring={goal.scoring!r} exclude each other; for further columns of "
            "cv_results_ give a list of scorers"
        )
    return Costs(goal.costs) if goal.costs is not None else resolve_aim(goal.aim)  # type: ignore[arg-type]


def resolve_purpose(
    goal: SearchGoal,
    X: Features,
    y: Array,
    weight: Array | None,
    classes: Array,
    has_link: bool,
    metadata: ScoreMetadata | None = None,
    rows: Array | None = None,
) -> Purpose:
    """Return the criterion of a search, and further metrics.

    Scorers are tried on perfect predictions of some samples, which shows what they look at.

    Parameters
    ----------
    goal : SearchGoal
        Parameters of the search.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Features of some samples, as they were given.
    y : ndarray of shape (n,)
        Their labels.
    weight : ndarray of shape (n,), optional
        Their weights.
    classes : ndarray of shape (c,)
        All labels.
    has_link : bool
        Whether the loss determines probabilities.
    metadata : ScoreMetadata, optional
        What routing gives the scorers; by default the weights, if they take them.
    rows : ndarray of int, shape (n,), optional
        Which of all samples these are, for the metadata.

    Returns
    -------
    Purpose
    """
    named = _named(goal.scoring)
    aim = resolve_aim_of(goal)
    own = {} if metadata is None else metadata.named
    scorers = {
        name: Scorer.probe(scoring, X, y, weight, classes, own.get(name), rows)
        for name, scoring in named.items()
    }
    if aim is not None:
        others = scorers if _is_many(goal.scoring) else {}
        judged = [name for name, scorer in others.items() if scorer.uses_labels]
        if judged and isinstance(aim, Costs) and aim.abstain is not None:
            raise ValueError(
                f"scoring: {', '.join(judged)} cannot score samples that the aim leaves undecided; "
                "leave abstain out of the costs, or such metrics out of scoring"
            )
        labels = not isinstance(aim, LogLoss)
        given = None if metadata is None else metadata.aim
        criterion = AimCriterion(aim, goal.pos_label, goal.evidence, given)
        return Purpose(criterion, labels, others)
    name = _chosen_name(goal, list(scorers))
    scorer = scorers[name]
    implied = _implied_aim(named[name], scorer, classes) if goal.rule == "auto" else None
    others = scorers if _is_many(goal.scoring) else {}
    if implied is not None:
        return Purpose(AimCriterion(*implied, goal.evidence, scorer.metadata), True, others)
    rules = [goal.rule]
    if goal.rule == "auto":
        rules = ["score", "bayes"] if has_link and scorer.uses_labels else ["score"]
    return Purpose(ScorerCriterion(scorer, rules), scorer.uses_labels, others)


def _implied_aim(scoring: Scoring, scorer: Scorer, classes: Array) -> tuple[Aim, object] | None:
    """Return the aim of a metric of labels, and its positive class."""
    if scorer.per_sample is not None or not scorer.only_labels:
        return None
    if isinstance(scoring, str) and scoring.startswith(ONE_SIDED):
        return None
    if scorer.aim is not None:
        aim = scorer.aim
        return aim, classes[scorer.positive] if aim.two_classes else None
    label = scoring if isinstance(scoring, str) else "scorer"
    return ScorerAim(scorer.function, label), None


def _is_many(scoring: Any) -> bool:
    return not isinstance(scoring, str) and isinstance(scoring, Iterable)


def _named(scoring: Any) -> dict[str, Scoring]:
    """Return scorers by name; a single one is called "score"."""
    if not _is_many(scoring):
        resolve_scoring(scoring)
        return {"score": scoring}
    if isinstance(scoring, Mapping):
        named = dict(scoring)
    else:
        names = list(scoring)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise ValueError(
                f"scoring must be a dict, or a list of different names of scorers; got {scoring!r}"
            )
        named = {name: name for name in names}
    if not named:
        raise ValueError("scoring is empty: name at least one scorer")
    for one in named.values():
        resolve_scoring(one)
    return named


def _chosen_name(goal: SearchGoal, names: list[str]) -> str:
    """Return the metric by which cells are compared."""
    if not _is_many(goal.scoring):
        return "score"
    if isinstance(goal.refit, str) and goal.refit in names:
        return goal.refit
    raise ValueError(
        f"with several metrics refit must name the one to choose by, of {names}; got {goal.refit!r}"
    )
