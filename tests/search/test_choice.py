"""The cells that a search chooses, and their final fits."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax import IMMAXClassifierCV

SMALL = {"n_margins": 4, "lams": [1e-3, 1e-1]}


@pytest.fixture(scope="module")
def binary():
    return make_classification(500, 8, n_informative=5, weights=[0.85], flip_y=0.05, random_state=0)


def test_decisions_and_probabilities_are_the_best_of_the_table(binary):
    search = IMMAXClassifierCV(aim="balanced_accuracy", **SMALL).fit(*binary)
    table = search.cv_results_
    assert search.best_score_ >= table["total_test_score"].max() - 1e-12
    assert table["total_test_score"][search.best_index_] == table["total_test_score"].max()
    row = table["params"][search.probability_index_]
    assert search.probability_estimator_.lam == row["lam"]
    losses = table["mean_test_log_loss"]
    assert losses[search.probability_index_] <= losses[search.best_index_]


def test_a_search_takes_the_attributes_of_another_final_fit(binary):
    X, y = binary
    search = IMMAXClassifierCV(**SMALL, cv=2).fit(X[:200], y[:200])
    before = search.coef_
    search.best_estimator_.fit(X, y)
    search.take_fit()
    assert not np.array_equal(search.coef_, before)
    np.testing.assert_array_equal(search.coef_, search.best_estimator_.coef_)
    np.testing.assert_array_equal(search.margins_, search.best_estimator_.margins_)
