"""Criteria from sums, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from immax.distributed.parts_criteria import parts_criterion
from immax.search.criteria import SearchGoal

X, Y = np.zeros((9, 1)), np.array([0, 1, 2] * 3)
SHARES = np.array([0.5, 0.3, 0.2])


def goal(**changes):
    given = {
        "aim": None,
        "costs": None,
        "scoring": "accuracy",
        "refit": True,
        "rule": "auto",
        "pos_label": None,
        "evidence": 1.0,
    }
    return SearchGoal(**{**given, **changes})


def criterion(**changes):
    return parts_criterion(goal(**changes), X, Y, np.arange(3), SHARES)


def test_scores_of_labels():
    rng = np.random.default_rng(0)
    true, labels = rng.integers(0, 3, (2, 4, 50))
    tables = np.array([confusion_matrix(a, b) for a, b in zip(true, labels, strict=True)])
    sizes = np.full(4, 50.0)
    both = np.stack([tables, tables], axis=1)
    found = criterion().score(both, np.zeros(4), sizes)
    assert list(found.rules) == ["score", "bayes"]
    np.testing.assert_allclose(found.splits[0], (true == labels).mean(axis=1))
    assert found.totals[1] == pytest.approx((true == labels).mean())
    np.testing.assert_allclose(found.without[0][0], (true == labels)[1:].mean())
    found = criterion(scoring="balanced_accuracy").score(tables[:, None], np.zeros(4), sizes)
    expected = balanced_accuracy_score(true.ravel(), labels.ravel())
    assert found.totals[0] == pytest.approx(expected)
    expected = balanced_accuracy_score(true[1:].ravel(), labels[1:].ravel())
    assert found.without[0, 0] == pytest.approx(expected)
    found = criterion(costs=[1, 2, 3]).score(tables[:, None], np.zeros(4), sizes)
    costs = np.array([1, 2, 3])[true] * (true != labels)
    assert found.totals[0] == pytest.approx(-costs.mean())


def test_log_losses():
    losses, sizes = np.array([10.0, 30.0]), np.array([20.0, 30.0])
    tables = np.zeros((2, 1, 3, 3))
    assert criterion(scoring="neg_log_loss").score(tables, losses, sizes).totals[0] == -0.75
    assert criterion(aim="log_loss").score(tables, losses, sizes).totals[0] == -0.8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scoring": "roc_auc_ovr"}, "needs the predictions of all rows in one place"),
        ({"aim": "f1_macro"}, r"DecisionClassifierCV\(model, aim"),
        ({"scoring": ["accuracy", "f1_macro"], "refit": "accuracy"}, "one metric"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        criterion(**changes)
