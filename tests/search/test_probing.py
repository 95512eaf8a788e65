"""What a scorer asks a classifier for."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer

from immax.search.probing import ProbingClassifier, takes_weights

X, Y, CLASSES = np.zeros((6, 2)), np.array([0, 1, 1, 0, 1, 0]), np.array([0, 1])


@pytest.mark.parametrize(
    ("name", "method"),
    [("f1", "predict"), ("neg_log_loss", "predict_proba"), ("roc_auc", "decision_function")],
)
def test_perfect_predictions_say_what_was_asked_for(name, method):
    model = ProbingClassifier(X, Y, CLASSES)
    assert get_scorer(name)(model, X, Y) == pytest.approx(0 if method == "predict_proba" else 1)
    assert model.requested == {method}


def test_whether_a_scorer_takes_weights():
    model = ProbingClassifier(X, Y, CLASSES)

    def plain(estimator, X, y):
        return float(np.mean(estimator.predict(X) == y))

    assert takes_weights(get_scorer("f1"), model, X, Y, np.ones(6))
    assert not takes_weights(plain, model, X, Y, np.ones(6))
