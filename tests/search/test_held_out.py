"""Held-out samples scored by every rule."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss

from immax.links import immax_proba
from immax.search.held_out import HeldOutScorer
from immax.search.scoring import Scorer

RNG = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
X = RNG.normal(size=(60, 4))
Y = RNG.integers(0, 3, 60)
SCORES = RNG.normal(size=(60, 3))
RHO = np.array([0.5, 0.3, 0.2])


def held_out(loss="logistic", weight=None, rules=("score", "bayes")):
    scorer = Scorer.probe("balanced_accuracy", loss, X, CLASSES[Y], weight, CLASSES)
    return HeldOutScorer(X, Y, weight, CLASSES, loss, rules, scorer)


def test_both_rules_and_the_log_loss():
    scores, losses = held_out().score(SCORES, RHO)
    proba = immax_proba(SCORES, RHO, "logistic")
    expected = [balanced_accuracy_score(Y, values.argmax(axis=1)) for values in (SCORES, proba)]
    np.testing.assert_allclose(scores[:, 0], expected)
    assert losses == pytest.approx(log_loss(Y, proba))


def test_groups():
    groups = [np.arange(0, 25), np.arange(25, 60)]
    scores, losses = held_out().score(SCORES, RHO, groups)
    assert scores.shape == (2, 2)
    for column, rows in enumerate(groups):
        part = held_out().subset(rows).score(SCORES[rows], RHO)
        np.testing.assert_allclose(part.scores[:, 0], scores[:, column])
        np.testing.assert_allclose(part.log_losses[0], losses[column])


def test_the_hinge_has_no_log_loss():
    scores, losses = held_out("hinge", rules=["score"]).score(SCORES, RHO)
    assert scores.shape == (1, 1)
    assert not losses.any()


def test_weights_of_a_training_part():
    weight = np.arange(60.0)
    scorer = held_out(weight=weight)
    train = np.array([3, 5, 5, 7])
    own = scorer.training_weight(train)
    assert own[5] == 10
    assert own.sum() == 3 + 10 + 7
    counts = scorer.class_counts(own)
    np.testing.assert_allclose(counts, [own[k == Y].sum() for k in range(3)])
    assert held_out().training_weight(train)[5] == 2
    np.testing.assert_array_equal(scorer.subset(train).weight, [3, 5, 5, 7])
