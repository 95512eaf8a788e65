"""Rules: from class probabilities to decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_labels import by_label
from immax.class_vectors import in_class_order
from immax.decisions.rule_words import rule_in_words
from immax.plain_rules import highest_argmax

__all__ = ["Rule", "check_proba", "rarer_class", "threshold_gains"]

ARRAYS = ("classes", "gains", "prior")
SHARE_FREE = ("balanced_accuracy", "gmean", "recall_macro", "precision at recall ")
"""How the names of aims begin whose best rule depends on the recalls of the classes alone."""


def check_proba(proba: ArrayLike, n_classes: int | None = None) -> Array:
    """Return probabilities as a (n, c) array, or say what is wrong with them.

    Parameters
    ----------
    proba : array-like of shape (n, c)
        Not negative; every row sums to one.
    n_classes : int, optional
        The number of columns that is expected.

    Returns
    -------
    ndarray of shape (n, c)

    Raises
    ------
    ValueError
        If they are not probabilities of two classes or more.
    """
    p = np.asarray(proba, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] < 2 or (n_classes is not None and p.shape[1] != n_classes):
        wanted = "two classes or more" if n_classes is None else f"{n_classes} classes"
        raise ValueError(f"proba must have shape (n, c) for {wanted}; got {p.shape}")
    if not np.isfinite(p).all() or (p < 0).any():
        raise ValueError("proba must be finite and not negative")
    sums = p.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > 1e-3)
    if wrong.size:
        raise ValueError(
            f"every row of proba must sum to one; row {wrong[0]} sums to {sums[wrong[0]]:.4g}"
        )
    return p


def rarer_class(shares: Array) -> int:
    """Return which of two classes is rarer, the one that aims for two classes are about.

    Parameters
    ----------
    shares : ndarray of shape (c,)
        Counts or shares of the classes.

    Returns
    -------
    int
        1 if both are equally frequent, and for more classes than two.

    Examples
    --------
    >>> rarer_class(np.array([10, 90]))
    0
    """
    return int(shares.size != 2 or shares[1] <= shares[0])


def threshold_gains(threshold: float, positive: int) -> Array:
    """Return the gains of the rule that predicts a class from a probability on.

    Parameters
    ----------
    threshold : float
        From 0 to 1; above 1 the class is never predicted, and below 0 always.
    positive : {0, 1}
        The class that is predicted when its probability is at least the threshold or, if it is
        class 0, which loses ties, more than that.

    Returns
    -------
    ndarray of shape (2, 2)

    Examples
    --------
    >>> threshold_gains(0.25, 1)
    array([[0.25, 0.  ],
           [0.  , 0.75]])
    """
    gains = np.zeros((2, 2))
    gains[positive, positive] = 1 - threshold
    gains[1 - positive, 1 - positive] = threshold
    return gains


@dataclass(frozen=True, eq=False)
class Rule:
    """Decide for the largest expected gain: ``argmax_j sum_k p_k gains_kj``.

    With gains on the diagonal alone that is ``argmax_k w_k p_k``; with two classes it is a
    threshold. The highest index wins a tie, as in the paper.

    Parameters
    ----------
    classes : ndarray of shape (c,)
    gains : ndarray of shape (c, c) or (c, c + 1)
        What decision j gains when class k is true; a further column is that of not deciding.
    prior : ndarray of shape (c,)
        The class shares of the data that the rule is for: those that it was fitted to, or those
        that ``for_prior`` was given.
    aim : str, default="custom"
        What the rule is for.
    positive : int, optional
        The class that a threshold is about; by default the rarer of two.
    count : int, optional
        Predict the positive class for this many rows of every call, those where it is most
        probable, whatever the gains are.

    Notes
    -----
    Unless it has a ``count``, a rule is its array ``gains``, which other programs can apply:
    decision j of the row of probabilities p is the largest entry of ``p @ gains``, the last one on
    a tie. Decisions below c are indices of ``classes``; c, which rules with ``abstains`` have, is
    none. ``weights`` and ``threshold`` are the same in fewer numbers, where there are such.
    ``immax.onnx`` exports rules in this form.

    Examples
    --------
    >>> rule = Rule(np.array(["ok", "fraud"]), threshold_gains(0.25, 1), np.array([0.9, 0.1]))
    >>> proba = np.array([[0.7, 0.3], [0.8, 0.2]])
    >>> (proba @ rule.gains).argmax(axis=1)
    array([1, 0])
    >>> rule.predict(proba).tolist()
    ['fraud', 'ok']
    """

    classes: Array
    gains: Array
    prior: Array
    aim: str = "custom"
    positive: int | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        c = len(self.classes)
        gains = np.array(self.gains, dtype=np.float64)
        prior = np.array(self.prior, dtype=np.float64)
        if gains.shape not in ((c, c), (c, c + 1)) or not np.isfinite(gains).all():
            raise ValueError(f"gains must be finite, of shape ({c}, {c}); got {gains.shape}")
        if prior.shape != (c,) or not (prior > 0).all():
            raise ValueError(f"prior must be {c} positive shares, one per class; got {prior}")
        positive = self.positive
        if positive is None and c == 2:
            positive = int(prior[1] <= prior[0])
        if positive is not None and not 0 <= positive < c:
            raise ValueError(f"positive must be the index of a class; got {positive}")
        if self.count is not None and c != 2:
            raise ValueError("a rule with a count is for two classes")
        object.__setattr__(self, "classes", np.array(self.classes))
        object.__setattr__(self, "gains", gains)
        object.__setattr__(self, "prior", prior / prior.sum())
        object.__setattr__(self, "positive", positive)
        self._freeze()

    def _freeze(self) -> None:
        for name in ARRAYS:
            getattr(self, name).flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, whose arrays are those of others until they are copied."""
        self.__dict__.update(state)
        for name in ARRAYS:
            object.__setattr__(self, name, np.array(state[name]))
        self._freeze()

    @property
    def abstains(self) -> bool:
        """Whether the rule may leave samples undecided."""
        return self.gains.shape[1] > self.gains.shape[0]

    @property
    def weights(self) -> Array | None:
        """The ``w`` of ``argmax_k w_k p_k``, largest one; None for other gains.

        There are such weights if all wrong decisions on a class gain the same, as with one cost
        for the errors on each class.
        """
        c = len(self.classes)
        if self.abstains:
            return None
        wrong = self.gains[~np.eye(c, dtype=bool)].reshape(c, c - 1)
        own = np.diagonal(self.gains) - wrong[:, 0]
        if (wrong != wrong[:, :1]).any() or own.min() < 0 or own.max() <= 0:
            return None
        return np.asarray(own / own.max())

    @property
    def threshold(self) -> float | None:
        """With two classes, the probability from which the positive class is predicted.

        Above 1 if it is never predicted, and below 0 if it always is.
        """
        if len(self.classes) != 2 or self.abstains or self.count is not None:
            return None
        p, n = self.positive, 1 - self.positive  # type: ignore[operator]
        gain = float(self.gains[p, p] - self.gains[p, n])
        loss = float(self.gains[n, n] - self.gains[n, p])
        if gain + loss <= 0:
            return None
        return loss / (gain + loss)

    def decide(self, proba: ArrayLike) -> Array:
        """Return the decision for each row: the index of a class, or c for none.

        Parameters
        ----------
        proba : array-like of shape (n, c)

        Returns
        -------
        ndarray of int, shape (n,)
        """
        p = check_proba(proba, len(self.classes))
        if self.count is not None:
            return self._most_probable(p)
        return highest_argmax(p @ self.gains)

    def _most_probable(self, p: Array) -> Array:
        positive = int(self.positive or 0)
        decisions = np.full(len(p), 1 - positive)
        order = np.argsort(-p[:, positive], kind="stable")
        decisions[order[: self.count]] = positive
        return decisions

    def predict(self, proba: ArrayLike) -> Array:
        """Return the label of each row; None where the rule abstains.

        Parameters
        ----------
        proba : array-like of shape (n, c)

        Returns
        -------
        ndarray of shape (n,)
        """
        decisions = self.decide(proba)
        if not self.abstains:
            return np.asarray(self.classes[decisions])
        labels = np.empty(len(decisions), dtype=object)
        decided = decisions < len(self.classes)
        labels[decided] = self.classes[decisions[decided]]
        return labels

    def for_prior(self, actual: ArrayLike | Mapping[Any, float]) -> Rule:
        """Return the rule for class shares that differ from those of training.

        It takes the probabilities of the model as they are. Expected costs are right for the new
        shares; thresholds of other aims are kept, for the probabilities that the new shares
        imply. Rules that depend on the recalls of the classes alone (for the balanced accuracy,
        the geometric mean, and the precision at a recall) and those with a count stay as they are.

        Parameters
        ----------
        actual : array-like of shape (c,), dict or Series
            The class shares in use, in the order of ``classes`` or by label.

        Returns
        -------
        Rule

        Raises
        ------
        ValueError
            If the rule is that of a budget of a share: which threshold so many samples exceed
            depends on their probabilities.
        """
        actual = by_label(actual)
        if isinstance(actual, Mapping):
            actual = in_class_order(actual, self.classes, "actual", "share")
        shares = np.asarray(actual, dtype=np.float64)
        if shares.shape != self.prior.shape or not (np.isfinite(shares) & (shares > 0)).all():
            raise ValueError(
                f"actual must be {self.prior.size} positive shares, one per class; got {actual!r}"
            )
        shares = shares / shares.sum()
        if self.aim.startswith(SHARE_FREE) or self.count is not None:
            return replace(self, prior=shares)
        if self.aim.startswith("budget of "):
            raise ValueError(
                f"the threshold of a {self.aim} for other class shares depends on the "
                "probabilities: fit it to held-out samples that are weighted by their class, "
                "fit_rule(proba, y, aim, sample_weight=(actual / prior)[y])"
            )
        odds = shares / self.prior
        return replace(self, gains=self.gains * odds[:, None], prior=shares)

    def __str__(self) -> str:
        return rule_in_words(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.aim, self.gains.tobytes(), self.prior.tobytes()))

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as values that JSON can hold.

        Returns
        -------
        dict
        """
        return {
            "classes": self.classes.tolist(),
            "gains": self.gains.tolist(),
            "prior": self.prior.tolist(),
            "aim": self.aim,
            "positive": self.positive,
            "count": self.count,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Return the rule that ``to_dict`` described.

        Parameters
        ----------
        content : dict
            What ``to_dict`` returned.

        Returns
        -------
        Rule
        """
        return cls(
            np.array(content["classes"]),
            np.array(content["gains"]),
            np.array(content["prior"]),
            content["aim"],
            content["positive"],
            content["count"],
        )
