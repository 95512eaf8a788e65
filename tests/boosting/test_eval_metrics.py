"""Metrics of held-out samples against scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics as reference

from immax.boosting.description import Description
from immax.boosting.eval_metrics import (
    EVAL_METRICS,
    METRIC_NAMES,
    EvalMetric,
    EvaluatedSample,
    find_metrics,
)
from immax.boosting.loss import BoostingLoss
from immax.boosting.rule_choice import most_probable_rule
from immax.losses.catalog import make_spec


def sample_of(c, n=60, bayes=False):
    rng = np.random.default_rng(0)
    loss = BoostingLoss(make_spec("immax", np.geomspace(900, 50, c)), np.arange(c), np.zeros(1))
    scores = rng.standard_normal(n) if c == 2 else rng.standard_normal((n, c))
    y, weight = rng.integers(0, c, n), rng.uniform(0.5, 2, n)
    rule = most_probable_rule(loss.classes, loss.shares) if bayes else None
    return EvaluatedSample(Description(loss, rule), scores, y, weight)


@pytest.mark.parametrize("c", [2, 3])
def test_metrics(c):
    sample = sample_of(c)
    scores, y, weight = sample.scores, sample.y, sample.weight
    labels = (scores >= 0).astype(int) if c == 2 else scores.argmax(axis=1)
    loss = sample.description.loss
    found = {
        name: metric.compute(sample)
        for name, metric in EVAL_METRICS.items()
        if c == 2 or not metric.two_classes
    }
    own = {"sample_weight": weight}
    assert found["error"] == pytest.approx(np.average(labels != y, weights=weight))
    assert found["accuracy"] == pytest.approx(1 - found["error"])
    assert found["log_loss"] == pytest.approx(reference.log_loss(y, sample.proba, **own))
    assert found["margin_loss"] == pytest.approx(np.average(loss.losses(scores, y), weights=weight))
    assert found["mcc"] == pytest.approx(reference.matthews_corrcoef(y, labels, **own))
    expected = reference.balanced_accuracy_score(y, labels, **own)
    assert found["balanced_accuracy"] == pytest.approx(expected)
    if c == 2:
        expected = reference.roc_auc_score(y, sample.proba[:, 1], **own)
        assert found["f1"] == pytest.approx(reference.f1_score(y, labels, **own))
    else:
        shares = np.bincount(y, weight) / weight.sum()
        each = [reference.roc_auc_score(y == k, sample.proba[:, k], **own) for k in range(c)]
        expected = shares @ each
    assert found["auc"] == pytest.approx(expected)


def test_labels_are_those_of_the_rule():
    by_score, bayes = sample_of(3), sample_of(3, bayes=True)
    assert (bayes.decisions == bayes.proba.argmax(axis=1)).all()
    assert (by_score.decisions != bayes.decisions).any()


def test_no_other_class_is_no_error():
    sample = sample_of(2)
    alone = EvaluatedSample(sample.description, sample.scores, np.zeros_like(sample.y))
    assert np.isnan(EVAL_METRICS["auc"].compute(alone))


def test_names_are_found_in_lists_and_alone():
    assert [metric.name for metric in find_metrics(None, "xgboost", 2)] == ["logloss"]
    assert [metric.name for metric in find_metrics(None, "catboost", 3)] == ["MultiClass"]
    found = find_metrics(["auc", max, "error@0.2"], "xgboost", 2)
    assert [getattr(one, "name", one) for one in found] == ["auc", max, "error@0.2"]
    sample = sample_of(2)
    expected = np.average((sample.proba[:, 1] > 0.2) != sample.y, weights=sample.weight)
    assert found[2].compute(sample) == pytest.approx(expected)
    for library, names in METRIC_NAMES.items():
        for name in names:
            assert isinstance(find_metrics(name, library, 2)[0], EvalMetric)


def test_what_is_refused():
    with pytest.raises(ValueError, match="'rmse' is not available"):
        find_metrics(["logloss", "rmse"], "xgboost", 2)
    with pytest.raises(ValueError, match="'F1' is for two classes; there are 3"):
        find_metrics("F1", "catboost", 3)
    with pytest.raises(ValueError, match="needs a number after the '@'"):
        find_metrics("error@half", "xgboost", 2)
    with pytest.raises(TypeError, match="a name or a callable; got 3"):
        find_metrics([3], "lightgbm", 2)


def test_xgboost_knows_the_direction_of_every_name():
    higher = {
        name for name, own in METRIC_NAMES["xgboost"].items() if EVAL_METRICS[own].higher_is_better
    }
    assert higher == {"auc", "aucpr"}  # the names of which XGBoost seeks the maximum
