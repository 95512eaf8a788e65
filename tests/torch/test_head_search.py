"""A search for a head makes the choice of IMMAXClassifierCV, in fewer iterations."""

import numpy as np
import pytest
from head_cases import samples

from immax import IMMAXClassifierCV
from immax.search.families import PowerFamily
from immax.torch import head_search
from immax.torch.head_data import checked_features, pool_selection
from immax.torch.head_search import POWERS, search_head

X, Y = samples()
POOL = pool_selection(checked_features(X, Y), samples(120, seed=1))
LAMS = np.logspace(-4, 0, 5)
FAMILY = PowerFamily(values=POWERS)


def test_the_choice_is_that_of_the_estimator():
    search = search_head(POOL, FAMILY, LAMS, 3, scoring="neg_log_loss")
    peer = IMMAXClassifierCV(
        family=FAMILY, lams=LAMS, cv=POOL.cv, refit=False, scoring="neg_log_loss"
    ).fit(POOL.X, POOL.y)
    assert search.best_lam_ == peer.best_lam_
    np.testing.assert_array_equal(search.best_parameters_, peer.best_parameters_)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_log_loss"],
        peer.cv_results_["mean_test_log_loss"],
        rtol=0.03,
    )


def test_large_features_are_searched_one_by_one(monkeypatch):
    full = search_head(POOL, FAMILY, LAMS, 3, scoring="neg_log_loss")
    assert len(full.cv_results_["params"]) == len(LAMS) * len(POWERS)
    monkeypatch.setattr(head_search, "LARGE", 0)
    search = search_head(POOL, FAMILY, LAMS, 3, scoring="neg_log_loss")
    assert len(search.cv_results_["params"]) == len(POWERS)
    equal = search_head(POOL, PowerFamily(values=(0.0,)), LAMS, 3, scoring="neg_log_loss")
    assert search.best_lam_ == equal.best_lam_
    assert search.best_score_ >= equal.best_score_ - 1e-3


@pytest.mark.parametrize("cv", [2, "loo"])
def test_folds_and_leave_one_out(cv):
    pool = pool_selection(checked_features(X.astype(float), Y), None, cv)
    search = search_head(pool, PowerFamily(values=(0.0,)), LAMS[2:4], 3, scoring="neg_log_loss")
    assert search.best_lam_ in LAMS
