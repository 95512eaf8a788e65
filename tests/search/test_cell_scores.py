"""Scores of a cell's decisions, by scorers and by aims."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, make_scorer, matthews_corrcoef

from immax.decisions import FBeta, LogLoss, RecallAt, resolve_aim
from immax.decisions.scorers import ScorerAim
from immax.search.cell_scores import (
    AimCriterion,
    ScorerCriterion,
    TestSamples,
    score_others,
    score_tests,
)
from immax.search.predictions import HeldOutPredictions, HeldOutScores
from immax.search.scoring import Scorer

TestSamples.__test__ = False  # not a class of tests

RNG = np.random.default_rng(0)
N = 300
Y = (RNG.random(N) < 0.2).astype(int)
H = RNG.normal(size=(N, 1)) + 1.5 * Y[:, None] - 1.5
X = np.arange(N)[:, None]
CLASSES = np.array(["no", "yes"])
GROUPS = [np.arange(0, 100), np.arange(100, 200), np.arange(200, 300)]
SAMPLES = TestSamples(X, Y, None, CLASSES, GROUPS)
MODEL = HeldOutPredictions(HeldOutScores(CLASSES, H, np.ones(2), "logistic"))
P = MODEL.held_out.proba


def test_a_rule_is_fitted_to_all_held_out_samples_at_once():
    found = AimCriterion(FBeta(), evidence=1.0).score(MODEL, SAMPLES)
    (rule,) = found.rules
    labels = P[:, 1] >= rule.threshold
    best = max(f1_score(Y, P[:, 1] >= t) for t in P[:, 1])
    assert f1_score(Y, labels) == pytest.approx(best)
    scores = [f1_score(Y[rows], labels[rows]) for rows in GROUPS]
    assert found.splits[0] == pytest.approx(scores)
    assert found.totals[0] == pytest.approx(np.mean(scores))
    for k in range(len(GROUPS)):
        assert found.without[0, k] == pytest.approx(np.mean(np.delete(scores, k)))


def test_the_log_loss_as_an_aim():
    found = AimCriterion(LogLoss()).score(MODEL, SAMPLES)
    logs = np.log(P[np.arange(N), Y])
    assert found.totals[0] == pytest.approx(logs.mean())
    assert found.splits[0, 1] == pytest.approx(logs[100:200].mean())
    assert found.rules[0].threshold == 0.5


def test_a_scorer_as_an_aim_sees_the_features_and_the_weights():
    seen = []

    def second_half(estimator, X, y):
        seen.append(X.shape)
        late = X[:, 0] >= N // 2
        return accuracy_score(y[late], estimator.predict(X)[late]) if late.any() else 0.0

    criterion = AimCriterion(ScorerAim(second_half))
    found = criterion.score(MODEL, SAMPLES)
    assert (N, 1) in seen
    assert found.splits[0, 0] == 0  # the first test has no such rows
    rule = criterion.fit(MODEL, SAMPLES)
    value, *_ = criterion.values(rule, P, SAMPLES)
    assert value >= found.totals[0] - 1e-12
    weighted = TestSamples(X, Y, RNG.random(N), CLASSES, GROUPS)
    mcc = AimCriterion(ScorerAim(make_scorer(matthews_corrcoef))).score(MODEL, weighted)
    own = AimCriterion(resolve_aim("mcc"), evidence=1.0).score(MODEL, weighted)
    searched, swept = (
        matthews_corrcoef(Y, found.rules[0].decide(P), sample_weight=weighted.weight)
        for found in (mcc, own)
    )
    assert searched <= swept + 1e-12  # a sweep of all thresholds is the best
    assert mcc.totals[0] == pytest.approx(own.totals[0], abs=0.05)


def test_constraints_are_judged_by_what_was_observed(recwarn):
    found = AimCriterion(RecallAt(precision=0.6), evidence=0.5).score(MODEL, SAMPLES)
    labels = P[:, 1] >= found.rules[0].threshold
    assert Y[labels].mean() >= 0.6
    assert found.totals[0] == pytest.approx(labels[Y == 1].mean())
    assert not recwarn.list


def test_scorers_by_every_rule():
    scorer = Scorer.probe("accuracy", X, CLASSES[Y], None, CLASSES)
    found = ScorerCriterion(scorer, ["score", "bayes"]).score(MODEL, SAMPLES)
    np.testing.assert_array_equal(found.splits[0], found.splits[1])  # equal margins
    np.testing.assert_allclose(found.totals, found.splits.mean(axis=1))
    np.testing.assert_allclose(found.without[0, 0], found.splits[0, 1:].mean())
    assert score_tests(scorer, MODEL, "score", SAMPLES) == found.splits[0].tolist()


def test_further_metrics_of_the_same_rules():
    rule = AimCriterion(FBeta(), evidence=1.0).fit(MODEL, SAMPLES)
    scorer = Scorer.probe("balanced_accuracy", X, CLASSES[Y], None, CLASSES)
    found = score_others({"balanced": scorer}, MODEL, [rule, "bayes"], SAMPLES)
    assert found["balanced"].shape == (2, 3)
    assert (found["balanced"][0] >= found["balanced"][1]).all()
