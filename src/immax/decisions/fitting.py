"""Rules fitted to probabilities of held-out samples and their labels.

Decisions are judged on counts that mix what was observed with what the probabilities themselves
expect: sample i counts as ``s_ik = evidence [y_i = k] + (1 - evidence) p_ik`` samples of class k.
With few rare samples, the observed counts alone would lead to extreme thresholds, and the expected
ones alone would trust probabilities that are not calibrated. Constraints are those of the observed
labels: probabilities that are too high must not fulfil them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.decisions.aim import TotalsAim
from immax.decisions.aims import AIMS, Aim, Budget, Costs, LogLoss
from immax.decisions.confusion import confusion_matrix
from immax.decisions.priors import check_shares
from immax.decisions.reference_shares import estimate_reference_shares
from immax.decisions.rules import Rule, check_proba, rarer_class, threshold_gains
from immax.decisions.scorers import (
    MOST_THRESHOLDS,
    QUICK_THRESHOLDS,
    ScorerAim,
    known_scorers,
    scorer_aim,
    search_by_calls,
)
from immax.decisions.weight_search import search_weights
from immax.validation import nearest

__all__ = ["best_threshold", "fit_rule", "resolve_aim", "threshold_curve", "value_of"]

EVIDENCE = 0.75
MOST_SHARES = 12  # that a warning lists
BEYOND = 2e-6  # how far the thresholds of "never" and "always" may lie outside of 0 to 1, doubled


def resolve_aim(aim: str | Aim | Callable[..., float]) -> Aim:
    """Return the aim that a name or a scorer stands for, and an aim as it is.

    Parameters
    ----------
    aim : str, Aim or callable
        A name of ``AIMS`` or of scikit-learn's scorers, or a scorer itself.

    Returns
    -------
    Aim

    Examples
    --------
    >>> resolve_aim("f1_macro")
    FBeta(beta=1.0, average='macro')
    """
    if isinstance(aim, Aim):
        return aim
    if isinstance(aim, str) and aim in AIMS:
        return AIMS[aim]()
    if isinstance(aim, str) and aim not in known_scorers():
        raise ValueError(f"unknown aim {aim!r}{nearest(aim, AIMS)}")
    kind: object = aim
    if isinstance(kind, type) and issubclass(kind, Aim):
        raise TypeError(f"aim must be an object, not a class: write {kind.__name__}(...)")
    if isinstance(aim, str) or callable(aim):
        return scorer_aim(aim)
    raise TypeError(f"aim must be a name, an Aim or a scorer; got {type(aim).__name__}")


def fit_rule(
    proba: ArrayLike,
    y: ArrayLike,
    aim: str | Aim | Callable[..., float] = "accuracy",
    sample_weight: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    pos_label: object = None,
    evidence: float = EVIDENCE,
    prior: ArrayLike | None = None,
    quick: bool = False,
) -> Rule:
    """Fit the rule that serves an aim best.

    Where theory has a closed form (accuracy, balanced accuracy, costs) nothing is tuned. With two
    classes all thresholds are tried, at the cost of a sort. With more, class weights are searched
    from several starts.

    Parameters
    ----------
    proba : array-like of shape (n, c)
        Probabilities of samples that the model was not fitted to, such as out-of-fold ones.
    y : array-like of shape (n,)
        Their labels.
    aim : str, Aim or scorer, default="accuracy"
    sample_weight : array-like of shape (n,), optional
    classes : array-like of shape (c,), optional
        The classes in the order of the columns; by default the sorted labels.
    pos_label : label, optional
        The class that aims for two classes are about; by default the rarer one. Scorers have
        their own.
    evidence : float, default=0.75
        The weight of the observed labels beside the expectation of the probabilities: 1 for
        labels alone, 0 for the probabilities alone. Aims with a constraint (``RecallAt``,
        ``PrecisionAt``, ``Budget``) always use the labels alone, so that they meet it on these.
    prior : array-like of shape (c,), optional
        The class shares, or counts, that the probabilities refer to: those of the model's
        training data. By default those of the labels, unless the probabilities clearly refer to
        others, as those of class weights do; these are then estimated, with a warning. Only aims
        with a closed form depend on it.
    quick : bool, default=False
        Search less where theory has no closed form and the thresholds of two classes cannot be
        swept: for the comparison of many models.

    Returns
    -------
    Rule

    Raises
    ------
    ValueError
        If the probabilities, labels, weights and aim do not match.

    Warns
    -----
    UserWarning
        If no threshold meets the constraint of the aim, in which case the nearest one is used;
        if more samples share the highest probability than a budget allows, in which case none is
        flagged; or if the probabilities refer to class shares other than those of the labels.

    Examples
    --------
    >>> p = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.6])
    >>> rule = fit_rule(np.c_[1 - p, p], [0, 0, 0, 1, 1, 1], "f1", evidence=1)
    >>> rule.threshold
    0.25
    >>> print(fit_rule(np.c_[1 - p, p], [0, 0, 0, 0, 0, 1], "balanced_accuracy"))
    predict 1 when its probability is at least 0.167, that is about its share of 16.7 %
    """
    aim = resolve_aim(aim)
    p = check_proba(proba)
    labels, codes = _codes(y, classes, p.shape)
    weight = _weights(sample_weight, len(p))
    if not 0 <= evidence <= 1:
        raise ValueError(f"evidence must be from 0 to 1; got {evidence!r}")
    if not isinstance(aim, ScorerAim):  # scorers are given all samples
        p, codes, weight = (each[weight > 0] for each in (p, codes, weight))
    counts = np.bincount(codes, weights=weight, minlength=p.shape[1])
    if not counts.all():
        missing = labels[np.flatnonzero(counts == 0)].tolist()
        raise ValueError(f"a rule needs samples of every class; the classes {missing} have none")
    shares = counts / counts.sum()
    positive = _positive(aim, labels, shares, pos_label)
    if isinstance(aim, Costs):
        aim = aim.for_classes(labels)
    if isinstance(aim, ScorerAim):
        if pos_label is not None:
            raise ValueError(
                f"pos_label does not reach the scorer {aim.name!r}: give it to the scorer, as in "
                "make_scorer(recall_score, pos_label=...)"
            )
        own = None if sample_weight is None else weight
        if own is not None and not aim.takes_weights and not quick:
            warnings.warn(
                f"the scorer {aim.name!r} takes no sample_weight: it counts all samples alike",
                stacklevel=2,
            )

        def score(decisions: Array) -> float:
            return aim.value_of_labels(labels[codes], labels[decisions], own)

        return Rule(labels, _gains_by_calls(p, score, quick), shares, aim.name, positive)
    if prior is not None:
        shares = check_shares(prior, "prior", p.shape[1])
    known = aim.gains(labels, shares)
    if known is not None:
        if prior is None and not isinstance(aim, LogLoss):
            known = _for_reference(known, p, codes, weight, shares, quiet=quick)
        return Rule(labels, known, shares, aim.name, positive)
    if isinstance(aim, Budget) and aim.count is not None:
        return Rule(labels, np.eye(2), shares, aim.name, positive, aim.count)
    observed = 1.0 if aim.constrained else evidence
    soft = (1 - observed) * p
    soft[np.arange(len(p)), codes] += observed
    soft *= weight[:, None]
    if p.shape[1] == 2:
        own = p[:, positive or 0]
        threshold, value = best_threshold(own, soft, aim, positive or 0)
        if aim.constrained and value < 0:
            warnings.warn(
                f"no threshold has the {aim.name} that was asked for; the nearest, "
                f"{threshold:.3g}, is {-value:.3g} short of it",
                stacklevel=2,
            )
        elif isinstance(aim, Budget) and threshold > own.max():
            tied = weight[own == own.max()].sum() / weight.sum()
            warnings.warn(
                f"no threshold has the {aim.name} and flags a sample: {100 * tied:.3g} % of the "
                f"samples have the highest probability, {own.max():.3g}; none is flagged "
                "(Budget(count=...) flags as many rows as it says)",
                stacklevel=2,
            )
        return Rule(labels, threshold_gains(threshold, positive or 0), shares, aim.name, positive)
    if isinstance(aim, TotalsAim):
        weights = search_weights(p, soft, aim, shares, quick=quick)
        return Rule(labels, np.diag(weights), shares, aim.name, positive)

    def by_counts(decisions: Array) -> float:
        columns = [np.bincount(decisions, weights=own, minlength=len(labels)) for own in soft.T]
        return float(aim.value(np.stack(columns)))

    return Rule(labels, _gains_by_calls(p, by_counts, quick), shares, aim.name, positive)


def _for_reference(
    gains: Array, p: Array, codes: Array, weight: Array, shares: Array, *, quiet: bool
) -> Array:
    """Return the gains for probabilities that may refer to other shares than the labels have."""
    reference = estimate_reference_shares(p, codes, weight, shares)
    if reference is None:
        return gains
    if not quiet:
        warnings.warn(
            f"the probabilities refer to the class shares {_in_percent(reference)}, "
            f"the labels have {_in_percent(shares)}: the rule takes this into account. The model "
            "may have class weights, or the samples may have other class shares than its training "
            "data. Shares that are given as prior are not estimated",
            stacklevel=3,
        )
    return np.asarray((shares / reference)[:, None] * gains)


def _in_percent(shares: Array) -> str:
    listed = " : ".join(f"{100 * share:.3g}" for share in shares[:MOST_SHARES])
    return f"{listed} : …" if len(shares) > MOST_SHARES else f"{listed} %"


def _gains_by_calls(p: Array, evaluate: Callable[[Array], float], quick: bool) -> Array:
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    values = QUICK_THRESHOLDS if quick else MOST_THRESHOLDS
    offsets = search_by_calls(log_p, evaluate, np.zeros(p.shape[1]), values)
    return np.diag(np.exp(offsets - offsets.max()))


def threshold_curve(p: Array, soft: Array, aim: Aim, positive: int) -> tuple[Array, Array]:
    """Return all thresholds that decide differently, descending, and the aim's value at each.

    The first one never predicts the positive class, and the last one always does. Where
    probabilities of 1 or 0 leave no room for that, they lie slightly above 1 and below 0.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Probabilities of the positive class.
    soft : ndarray of shape (n, 2)
        How much each sample counts for each class.
    aim : Aim
    positive : {0, 1}

    Returns
    -------
    thresholds, values : ndarray of shape (m,)
    """
    order = np.argsort(-p, kind="stable")
    sorted_p = p[order]
    ends = np.flatnonzero(np.diff(sorted_p)) + 1  # cuts between different probabilities
    cuts = np.r_[0, ends, p.size]
    above = np.vstack([np.zeros(2), np.cumsum(soft[order], axis=0)])[cuts]
    total = soft.sum(axis=0)
    confusion = np.empty((cuts.size, 2, 2))
    confusion[:, :, positive] = above
    confusion[:, :, 1 - positive] = total - above
    highest = 1.0 if sorted_p[0] < 1 else sorted_p[0] + BEYOND
    lowest = 0.0 if positive == 1 or sorted_p[-1] > 0 else -BEYOND  # class 0 loses ties
    padded = np.r_[highest, sorted_p, lowest]
    return (padded[cuts] + padded[cuts + 1]) / 2, aim.value(np.maximum(confusion, 0), positive)


def best_threshold(p: Array, soft: Array, aim: Aim, positive: int) -> tuple[float, float]:
    """Return the threshold of the best value, in the middle of its widest plateau, and the value.

    For a budget it is the lowest threshold that keeps it: as many samples as can be followed up.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Probabilities of the positive class.
    soft : ndarray of shape (n, 2)
        How much each sample counts for each class.
    aim : Aim
    positive : {0, 1}

    Returns
    -------
    threshold, value : float
    """
    thresholds, values = threshold_curve(p, soft, aim, positive)
    if isinstance(aim, Budget):
        lowest = np.flatnonzero(values >= 0)[-1]
        return float(thresholds[lowest]), float(values[lowest])
    best = np.flatnonzero(values >= values.max() - 1e-12)
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    widest = max(runs, key=lambda run: float(thresholds[run[0]] - thresholds[run[-1]]))
    return float(thresholds[widest[[0, -1]]].mean()), float(values.max())


def _codes(y: ArrayLike, classes: ArrayLike | None, shape: tuple[int, ...]) -> tuple[Array, Array]:
    labels = np.asarray(y)
    if labels.shape != shape[:1]:
        raise ValueError(
            f"y must have one label for each of the {shape[0]} rows of proba; got "
            f"shape {labels.shape}"
        )
    known = np.unique(labels) if classes is None else np.asarray(classes)
    if known.size != shape[1]:
        raise ValueError(f"proba has {shape[1]} columns, and there are {known.size} classes")
    order = np.argsort(known)
    place = np.searchsorted(known, labels, sorter=order)
    codes = order[np.minimum(place, known.size - 1)]
    unknown = labels[known[codes] != labels]
    if unknown.size:
        raise ValueError(f"y holds {unknown[0]!r}, which is not among the classes")
    return known, codes


def _weights(sample_weight: ArrayLike | None, n: int) -> Array:
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(f"sample_weight must be {n} finite numbers of at least 0")
    return weight


def _positive(aim: Aim, classes: Array, prior: Array, pos_label: object) -> int | None:
    if len(classes) > 2 and aim.two_classes:
        raise ValueError(
            f"the aim {aim.name!r} is for two classes; there are {len(classes)} (for F-scores and "
            "the Jaccard index, average='macro' is for many)"
        )
    if pos_label is None:
        return rarer_class(prior) if len(classes) == 2 else None
    where = np.flatnonzero(classes == pos_label)
    if not where.size:
        raise ValueError(f"pos_label {pos_label!r} is not among the classes {classes.tolist()}")
    return int(where[0])


def value_of(
    aim: Aim, y: Array, decisions: Array, n_classes: int, weight: Array | None, positive: int
) -> float:
    """Return the aim's value of decisions.

    Parameters
    ----------
    aim : Aim
    y, decisions : ndarray of int, shape (n,)
    n_classes : int
    weight : ndarray of shape (n,), optional
    positive : int

    Returns
    -------
    float
    """
    table = confusion_matrix(y, decisions, n_classes, n_classes, weight)
    return float(aim.value(table, positive))
