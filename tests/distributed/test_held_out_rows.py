"""Sums over held-out rows, against plain loops."""

import numpy as np
import pytest
from parted_cases import rows

from immax.boosting.rule_choice import closed_form_rule
from immax.class_weights import divide_out
from immax.decisions import BalancedAccuracy
from immax.distributed import row_part
from immax.distributed.held_out_rows import HeldOutFit, score_held_out
from immax.distributed.row_part import RowPart
from immax.links import by_score, decide, immax_proba


@pytest.mark.parametrize("c", [2, 3])
def test_tables_and_losses(c, monkeypatch):
    monkeypatch.setattr(row_part, "MOST_SCORES", 3000)
    X, y = rows(c, 4000)
    rng = np.random.default_rng(0)
    weight, folds = rng.uniform(1, 2, 4000), rng.integers(0, 3, 4000)
    part = RowPart(X, y, weight, np.arange(4000), folds)
    k = 1 if c == 2 else c
    fits = [
        HeldOutFit(
            rng.normal(size=(k, 9)) / 5, fold, rng.uniform(0.5, 2, c), rng.uniform(0.5, 2, c)
        )
        for fold in (0, 2, 0)
    ]
    closed = closed_form_rule(BalancedAccuracy(), np.arange(c), np.bincount(y) / 4000)
    rules = ["score", "bayes", closed]
    found = score_held_out(part, fits, rules, "logistic", True)
    for place, fit in enumerate(fits):
        own = folds == fit.fold
        scores = X[own] @ fit.theta[:, :-1].T + fit.theta[:, -1]
        scores = scores[:, 0] if c == 2 else scores
        proba = divide_out(immax_proba(scores, fit.margins, "logistic"), fit.weights)
        logs = -np.log(proba[np.arange(own.sum()), y[own]])
        assert found.log_losses[place] == pytest.approx(logs @ weight[own])
        decided = [by_score(scores), decide(proba), closed.decide(proba)]
        for number, labels in enumerate(decided):
            table = np.zeros((c, c))
            for true, label, own_weight in zip(y[own], labels, weight[own], strict=True):
                table[true, label] += own_weight
            np.testing.assert_allclose(found.tables[place, number], table)
