"""Metrics of early stopping against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import log_loss as reference_log_loss

from immax.boosting.eval_metrics import error, log_loss, margin_loss
from immax.boosting.loss import BoostingLoss
from immax.losses.catalog import make_spec


@pytest.mark.parametrize("c", [2, 3])
def test_metrics(c):
    rng = np.random.default_rng(0)
    loss = BoostingLoss(make_spec("immax", np.geomspace(900, 50, c)), np.arange(c), np.zeros(1))
    scores = rng.standard_normal(50) if c == 2 else rng.standard_normal((50, c))
    y, weight = rng.integers(0, c, 50), rng.uniform(0.5, 2, 50)
    labels = (scores >= 0).astype(int) if c == 2 else scores.argmax(axis=1)
    assert error(loss, scores, y, weight) == pytest.approx(np.average(labels != y, weights=weight))
    expected = reference_log_loss(y, loss.proba(scores), sample_weight=weight)
    assert log_loss(loss, scores, y, weight) == pytest.approx(expected)
    mean = np.average(loss.losses(scores, y), weights=weight)
    assert margin_loss(loss, scores, y, weight) == pytest.approx(mean)
