"""Scores, rules and log-losses of all cells."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss

from immax.decisions import BalancedAccuracy, fit_rule
from immax.search.cell_scores import AimCriterion
from immax.search.evaluation import CellEvaluator
from immax.search.held_out import HeldOutCells, PointTerms
from immax.search.samples import SearchSamples

RNG = np.random.default_rng(0)
N = 200
Y = (RNG.random(N) < 0.25).astype(int)
CLASSES = np.array([0, 1])
ROWS = RNG.permutation(N)


def cells():
    values = RNG.normal(size=(2, 3, N, 1)) + 2 * Y[ROWS][:, None]
    terms = [PointTerms(np.array([[1.2, 0.8]]), np.array([w])) for w in ([1.0, 1.0], [1.0, 3.0])]
    groups = [np.arange(0, 100), np.arange(100, N)]
    index = np.zeros(N, dtype=int)
    return HeldOutCells(values, terms, ROWS, index, groups, np.ones((2, 3, 2)))


@pytest.mark.parametrize(("loss", "has_link"), [("logistic", True), ("hinge", False)])
def test_every_cell_has_its_rule_and_its_log_loss(loss, has_link):
    held_out = cells()
    samples = SearchSamples(np.zeros((N, 1)), Y, None, CLASSES)
    criterion = AimCriterion(BalancedAccuracy())
    evaluator = CellEvaluator(samples, samples.X, loss, has_link, criterion)
    results = evaluator.evaluate(held_out)
    tests = evaluator.test_samples(held_out)
    np.testing.assert_array_equal(tests.y, Y[ROWS])
    for i, j in np.ndindex(2, 3):
        proba = evaluator.predictions(held_out, i, j, tests).held_out.proba
        rule = results.rules[i, j, 0]
        assert rule == fit_rule(proba, Y[ROWS], "balanced_accuracy", quick=True)
        labels = rule.predict(proba)
        scores = [balanced_accuracy_score(Y[ROWS][part], labels[part]) for part in held_out.groups]
        assert results.totals[i, j, 0] == pytest.approx(np.mean(scores))
        assert results.losses[i, j, 1] == pytest.approx(log_loss(Y[ROWS][100:], proba[100:]))
        assert (results.calibrations[i, j] is None) is has_link
    assert (results.score_times > 0).all()
