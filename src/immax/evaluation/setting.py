"""What a method needs to know besides the samples, and how it is tuned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from immax.arrays import Array
from immax.decisions import Aim, DecisionClassifierCV
from immax.evaluation.aim_search import AimedClassifier, AimSearch, PerAim
from immax.evaluation.held_out_scorer import HeldOutScorer, score_by_metric
from immax.evaluation.meta_estimators import Classifier, CrossValidation
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import LAMS, POWERS, Selection
from immax.search.base import MarginSearch
from immax.search.scoring import ScorerFunction

__all__ = ["Builder", "Setting", "Tuned"]

Tuned: TypeAlias = Classifier | AimedClassifier
"""A classifier that tunes itself when it is fitted: for one scorer, or for each of several aims."""


@dataclass(frozen=True)
class Setting:
    """What a method needs to know besides the samples.

    Parameters
    ----------
    selection : Selection
        How hyper-parameters are selected.
    grid : mapping of str to sequence of float
        Values to try for the method: ``lam`` in place of ``selection.lams``, and hyper-parameters
        of catalogue methods.
    seed : int
    y : ndarray of shape (n,)
        The labels of the training samples.
    decided_for : HeldOutScorer, optional
        With an aim that decisions of every method serve, in place of the aims of the selection:
        labels are those of a rule, also where plans compare what methods predict by themselves.
    balanced : bool, default=False
        Whether the method is trained as if all classes were equally frequent, as for
        ``AimSearch``.
    """

    selection: Selection
    grid: Mapping[str, Sequence[float]]
    seed: int
    y: Array
    decided_for: HeldOutScorer | None = None
    balanced: bool = False

    @property
    def lams(self) -> list[float]:
        """Values of λ in ``λ‖W‖² + mean loss``."""
        return list(self.grid.get("lam") or self.selection.lams or LAMS)

    @property
    def Cs(self) -> list[float]:  # noqa: N802
        """The same penalties as scikit-learn's C, ``1 / (2 λ n)``."""
        return [1 / (2 * lam * len(self.y)) for lam in self.lams]

    @property
    def powers(self) -> Sequence[float]:
        """Powers of the class counts."""
        return self.selection.powers or POWERS

    @property
    def axes(self) -> dict[str, Sequence[float]]:
        """The grid without λ."""
        return {name: values for name, values in self.grid.items() if name != "lam"}

    def class_counts(self) -> Array:
        """Return the number of samples of each class.

        Returns
        -------
        ndarray of int
        """
        return np.unique(self.y, return_counts=True)[1]

    def splitter(self) -> StratifiedKFold:
        """Return the inner folds, which are the same for all methods.

        Returns
        -------
        StratifiedKFold
        """
        folds = min(self.selection.folds, int(self.class_counts().min()))
        return StratifiedKFold(folds, shuffle=True, random_state=self.seed)

    def cv(self) -> CrossValidation:
        """Return the inner folds that are used.

        Returns
        -------
        StratifiedKFold, or list of pairs of indices
        """
        if not self.selection.use_folds:
            return self.splitter()
        return list(self.splitter().split(self.y, self.y))[: self.selection.use_folds]

    @property
    def scorer(self) -> str | ScorerFunction:
        """The scorer of the selection, for scikit-learn."""
        name = self.selection.scoring
        if name not in METRICS or METRICS[name].scorer:
            return name
        return partial(METRICS[name].score, counts=self.class_counts())

    @property
    def aim(self) -> str | Aim:
        """What the scorer of the selection aims at."""
        metric = METRICS.get(self.selection.scoring)
        if metric is None or metric.make_aim is None:
            return self.selection.scoring
        return metric.make_aim(self.class_counts())

    @property
    def scorers(self) -> tuple[HeldOutScorer, ...]:
        """The scorers of the aims that the method is tuned for; none if it is for one scorer."""
        if self.decided_for is not None:
            return (self.decided_for,)
        counts = self.class_counts()
        return tuple(score_by_metric(METRICS[name], counts) for name in self.selection.aims)

    def search(
        self, model: Classifier, grid: Mapping[str, Sequence[object]], *, decide: bool = False
    ) -> Tuned:
        """Return a grid search on the inner folds.

        Parameters
        ----------
        model : classifier
        grid : mapping of str to sequence
        decide : bool, default=False
            Whether labels are those of the rule that serves the aim best.

        Returns
        -------
        GridSearchCV, DecisionClassifierCV, or AimSearch if there are aims
        """
        if self.scorers:
            always = self.decided_for is not None
            return AimSearch(
                model,
                grid,
                self.cv(),
                self.scorers,
                decide=decide or always,
                calibrate=always,
                balanced=self.balanced,
            )
        search = GridSearchCV(model, grid, cv=self.cv(), scoring=self.scorer) if grid else model
        return DecisionClassifierCV(search, self.aim, cv=self.cv()) if decide else search

    def fixed(self, model: Classifier) -> Tuned:
        """Return a classifier without hyper-parameters to tune, which serves all aims.

        Parameters
        ----------
        model : classifier

        Returns
        -------
        classifier
            In an AimSearch if there are aims.
        """
        return self.search(model, {}) if self.scorers else model

    def purpose(self, scorer: HeldOutScorer | None) -> dict[str, Any]:
        """Return the parameters that tell a margin search what it is for.

        Parameters
        ----------
        scorer : HeldOutScorer or None
            That of an aim; None for the scorer of the selection.

        Returns
        -------
        dict
            Keyword arguments.
        """
        if scorer is None or scorer.aim is None:
            return {"scoring": self.scorer}
        return {"aim": scorer.aim}

    def for_each_aim(self, make: Callable[[HeldOutScorer | None], MarginSearch]) -> Tuned:
        """Return a search for each aim, or one if there are none.

        Parameters
        ----------
        make : callable
            From the scorer of an aim, or None, to a search.

        Returns
        -------
        PerAim or search
        """
        return PerAim(make, self.scorers) if self.scorers else make(None)


Builder: TypeAlias = Callable[[Setting], Tuned]
"""From a setting to a classifier that tunes itself."""
