"""What held-out rows say of the cells of a search: confusion matrices and log-losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from immax.arrays import Array, Vector
from immax.class_weights import divide_out
from immax.decisions import Rule
from immax.decisions.confusion import confusion_matrix
from immax.distributed.row_part import RowPart
from immax.links import by_score, decide, immax_proba

__all__ = ["HeldOutFit", "HeldOutSums", "score_held_out"]


class HeldOutFit(NamedTuple):
    """A fit to the training part of a fold."""

    theta: Array  # (k, width)
    fold: int
    margins: Vector
    weights: Vector


class HeldOutSums(NamedTuple):
    """Sums over the held-out rows of each fit."""

    tables: Array  # (n_fits, n_rules, c, actions), confusion matrices
    log_losses: Array  # (n_fits,)


def score_held_out(
    part: RowPart,
    fits: Sequence[HeldOutFit],
    rules: Sequence[str | Rule],
    loss: str,
    fit_intercept: bool,
) -> HeldOutSums:
    """Score fits on those rows of a part that they have not seen.

    Parameters
    ----------
    part : RowPart
        The rows, with their folds.
    fits : sequence of HeldOutFit
        The fits.
    rules : sequence of {"score", "bayes"} or Rule
        The decision rules.
    loss : str
        The surrogate, whose link gives the probabilities.
    fit_intercept : bool
        Whether there are biases.

    Returns
    -------
    HeldOutSums
    """
    c = len(fits[0].margins)
    actions = max(rule.gains.shape[1] if isinstance(rule, Rule) else c for rule in rules)
    tables, losses = np.zeros((len(fits), len(rules), c, actions)), np.zeros(len(fits))
    for fold in sorted({fit.fold for fit in fits}):
        places = [place for place, fit in enumerate(fits) if fit.fold == fold]
        outputs = sum(len(fits[place].theta) for place in places)
        for block in _rows_of(part, fold).blocks(outputs):
            by_fit = _scores(block, fits, places, fit_intercept)
            for place, scores in zip(places, by_fit, strict=True):
                fit = fits[place]
                proba = divide_out(immax_proba(scores, fit.margins, loss), fit.weights)
                own = proba[np.arange(len(block)), block.y]
                logs = np.log(np.maximum(own, np.finfo(proba.dtype).eps))
                losses[place] -= float(logs.astype(np.float64) @ block.weight)
                for number, rule in enumerate(rules):
                    decided = _decisions(rule, scores, proba)
                    tables[place, number] += confusion_matrix(
                        block.y, decided, c, actions, block.weight
                    )
    return HeldOutSums(tables, losses)


def _rows_of(part: RowPart, fold: int) -> RowPart:
    rows = np.flatnonzero(part.folds == fold)
    return RowPart(part.X[rows], part.y[rows], part.weight[rows], part.places[rows])


def _scores(
    part: RowPart, fits: Sequence[HeldOutFit], places: Sequence[int], fit_intercept: bool
) -> list[Array]:
    """Return the scores of every fit in the shape of ``decision_function``."""
    d = part.X.shape[1]
    products = part.products(np.concatenate([fits[place].theta[:, :d] for place in places]))
    by_fit, begin = [], 0
    for place in places:
        theta = fits[place].theta
        scores = products[begin : begin + len(theta)].T
        begin += len(theta)
        if fit_intercept:
            scores = scores + theta[:, -1].astype(scores.dtype)
        by_fit.append(scores[:, 0] if len(theta) == 1 else scores)
    return by_fit


def _decisions(rule: str | Rule, scores: Array, proba: Array) -> Array:
    if isinstance(rule, Rule):
        return rule.decide(proba)
    return decide(proba) if rule == "bayes" else by_score(scores)
