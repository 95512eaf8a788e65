"""The search over parts, against the search in memory with the same folds."""

import numpy as np
import pytest
from parted_cases import cut, rows
from sklearn import config_context
from sklearn.utils.metadata_routing import MetadataRequest

from immax import IMMAXClassifierCV
from immax.distributed import parted_search
from immax.distributed.parted_search import PartedIMMAXCV
from immax.distributed.row_hashes import fold_numbers
from immax.search import classifier


@pytest.fixture
def tight(monkeypatch):
    """Solve the cells of both searches so well that labels are the same."""
    for module in (classifier, parted_search):
        monkeypatch.setattr(module, "LABEL_TOL", 1e-13)
        monkeypatch.setattr(module, "PROBABILITY_TOL", 1e-13)


@pytest.mark.parametrize(
    ("c", "params"),
    [
        (2, {}),
        (3, {"scoring": "neg_log_loss", "use_radii": True}),
        (2, {"scoring": "balanced_accuracy"}),
        (3, {"costs": [1, 4, 2], "fit_intercept": False}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_cells_are_those_of_the_search_in_memory(c, params, tight, monkeypatch):
    monkeypatch.setattr(parted_search, "MOST_PARAMETERS", 400)  # some points at a time
    X, y = rows(c, 1200)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    folds = fold_numbers(np.arange(len(y)), 3, 5)
    cv = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(3)]
    given = {"n_margins": 3, "lams": [1e-3, 1e-1], "random_state": 5, **params}
    local = IMMAXClassifierCV(cv=cv, **given).fit(X, y, weight)
    model = PartedIMMAXCV(cv=3, **given)
    model._check_parted()
    model._fit_parts(cut(X, y, weight))
    for name in ("mean_test_score", "split0_test_score", "std_test_score"):
        np.testing.assert_allclose(model.cv_results_[name], local.cv_results_[name], atol=2e-6)
    assert model.best_index_ == local.best_index_
    assert model.best_lam_ == local.best_lam_
    assert str(model.best_rule_) == str(local.best_rule_)
    np.testing.assert_allclose(model.best_margins_, local.best_margins_)
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), atol=1e-4)
    assert (model.predict(X) == local.predict(X)).all()


def test_few_rounds_for_many_cells():
    X, y = rows(2, 2000)
    model = PartedIMMAXCV(n_margins=5)
    raw = cut(X, y)
    model._fit_parts(raw)
    assert len(model.cv_results_["params"]) > 50
    assert model.n_rounds_ < 20


def test_what_is_refused():
    for params, message in [
        ({"cv": "loo"}, "cv must be a number of folds"),
        ({"cv": 1}, "cv must be a number of folds"),
        ({"loss": "hinge"}, "need a smooth loss"),
        ({"penalty": "l1"}, "need penalty='l2'; got penalty='l1'"),
        ({"n_margins": 0}, "n_margins must be"),
        ({"memory": "cache"}, "memory must be None for rows in parts: .* got 'cache'"),
    ]:
        with pytest.raises(ValueError, match=message):
            PartedIMMAXCV(**params)._check_parted()
    X, y = rows(2, 300)
    y = np.r_[np.zeros(299, dtype=int), 1]
    with pytest.raises(ValueError, match="all rows of the class 1 are held out in fold"):
        PartedIMMAXCV()._fit_parts(cut(X, y))


def test_nothing_is_routed():
    with config_context(enable_metadata_routing=True):
        request = PartedIMMAXCV().get_metadata_routing()
    assert isinstance(request, MetadataRequest)  # not a router
