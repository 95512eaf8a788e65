"""The linear models inside what searches choose, for every method that streams."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax.compare.chosen_models import linear_models, without_search
from immax.compare.protocol import Protocol, fit_candidate
from immax.evaluation.candidates import CANDIDATES

STREAMS = [name for name, candidate in CANDIDATES.items() if candidate.streams]


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("name", ["logistic", "threshold", "immax", "la"])
def test_scores_are_those_of_a_linear_model(name, metric):
    X, y = make_classification(150, 4, weights=[0.7], random_state=0)
    protocol = Protocol(metric)
    scorer = protocol.scorer(np.unique(y), np.bincount(y))
    model = without_search(fit_candidate(name, X, y, protocol, scorer).model)
    cores = linear_models(model)
    assert 1 <= len(cores) <= 2
    # What a method decides by is a function of these coefficients alone.
    for core in cores:
        core.coef_ = np.zeros_like(core.coef_)
        core.intercept_ = np.zeros_like(core.intercept_)
    assert len(np.unique(model.predict(X))) == 1
    assert np.ptp(model.predict_proba(X), axis=0).max() == 0


def test_methods_that_stream_are_linear():
    assert {"logistic", "weights", "threshold", "immax", "rw", "vs"} <= set(STREAMS)
    assert not {"svm", "immax_hinge", "immax_l1", "smote", "xgb", "equal"} & set(STREAMS)
    assert all(CANDIDATES[name].model == "linear" for name in STREAMS)
