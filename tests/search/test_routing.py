"""Metadata routing of searches, beside LogisticRegressionCV."""

import numpy as np
import pytest
from group_splitters import WatchedGroups
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_validate
from weight_requests import refusing_weights

from immax import IMMAXSVCCV, IMMAXClassifierCV
from immax.search.routing import make_router

X, Y = make_classification(
    240, 6, n_informative=4, weights=[0.7], class_sep=0.7, flip_y=0.05, random_state=0
)
GROUPS = np.arange(240) // 5
WEIGHT = np.where(Y == 1, 4.0, 1.0)


def linear(**options):
    return IMMAXClassifierCV(n_margins=2, lams=[0.1, 0.001], **options)


def kernel(**options):
    return IMMAXSVCCV("linear", n_margins=2, Cs=[0.1], **options)


def rival(**options):
    return LogisticRegressionCV(
        Cs=2, l1_ratios=(0,), use_legacy_attributes=False, **{"scoring": "accuracy", **options}
    )


NEW = "use_legacy_attributes" in LogisticRegressionCV().get_params()  # scikit-learn 1.8
RIVAL = pytest.param(rival, marks=pytest.mark.skipif(not NEW, reason="other parameters before"))
ALL = pytest.mark.parametrize("make", [linear, kernel, RIVAL])
OURS = pytest.mark.parametrize("make", [linear, kernel])


def noting(seen):
    """Return a scorer of labels that notes down the weights that it is given."""

    def score(y, predicted, sample_weight=None):
        seen.append(sample_weight)
        return accuracy_score(y, predicted, sample_weight=sample_weight)

    return make_scorer(score)


@OURS
@pytest.mark.parametrize("routing", [True, False])
def test_folds_keep_groups_together(make, routing):
    shared = []
    with config_context(enable_metadata_routing=routing):
        make(cv=WatchedGroups(3, shared)).fit(X, Y, groups=GROUPS)
    assert shared == [set()] * 3


@ALL
def test_groups_reach_the_splitter_in_a_nested_cross_validation(make):
    shared = []
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            make(cv=WatchedGroups(3, shared)),
            X,
            Y,
            cv=GroupKFold(2),
            params={"groups": GROUPS},
            error_score="raise",
        )
        plain = cross_validate(
            make(cv=2), X, Y, cv=GroupKFold(2), params={"groups": GROUPS}, error_score="raise"
        )
    assert shared == [set()] * 6
    assert np.isfinite(found["test_score"]).all()
    assert np.isfinite(plain["test_score"]).all()


@OURS
def test_groups_under_another_name(make):
    shared = []
    with config_context(enable_metadata_routing=True):
        asking = WatchedGroups(3, shared).set_split_request(groups="patient")
        make(cv=asking).fit(X, Y, patient=GROUPS)
        told = make(cv=WatchedGroups(3, shared)).set_fit_request(groups="patient")
        cross_validate(told, X, Y, cv=2, params={"patient": GROUPS}, error_score="raise")
    assert shared == [set()] * 9


@OURS
def test_groups_without_a_splitter_of_groups(make):
    with config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match="groups need a splitter"):
            make(cv=3).fit(X, Y, groups=GROUPS)
        with pytest.raises(TypeError, match="groups"):
            make(cv=StratifiedKFold(3)).fit(X, Y, groups=GROUPS)


@ALL
def test_scorers_must_say_whether_they_ask_for_weights(make):
    with config_context(enable_metadata_routing=True):
        for scoring in ("accuracy", make_scorer(accuracy_score)):
            with refusing_weights():
                make(cv=2, scoring=scoring).fit(X, Y, sample_weight=WEIGHT)
        make(cv=2).fit(X, Y)


@ALL
def test_scorers_get_weights_if_they_ask_for_them(make):
    with config_context(enable_metadata_routing=True):
        seen = []
        asking = noting(seen).set_score_request(sample_weight=True)
        make(cv=2, scoring=asking).fit(X, Y, sample_weight=WEIGHT)
        assert seen
        assert all(weight is not None for weight in seen)
        seen.clear()
        refusing = noting(seen).set_score_request(sample_weight=False)
        make(cv=2, scoring=refusing).fit(X, Y, sample_weight=WEIGHT)
        assert seen
        assert all(weight is None for weight in seen)
        seen.clear()
        renamed = noting(seen).set_score_request(sample_weight="importance")
        make(cv=2, scoring=renamed).fit(X, Y, importance=3 * WEIGHT)
        assert set(np.concatenate(seen)) == {3.0, 12.0}


@OURS
def test_an_aim_that_is_a_scorer_asks_too(make):
    with config_context(enable_metadata_routing=True):
        seen = []
        with refusing_weights():
            make(cv=2, aim=noting(seen)).fit(X, Y, sample_weight=WEIGHT)
        asking = noting(seen).set_score_request(sample_weight=True)
        refusing = noting(seen).set_score_request(sample_weight=False)
        for aim, weighted in ((asking, True), (refusing, False)):
            model = make(cv=2, aim=aim)
            seen.clear()  # scorers are tried without weights
            model.fit(X, Y, sample_weight=WEIGHT)
            assert any(weight is not None for weight in seen) == weighted
        make(cv=2, aim="balanced_accuracy").fit(X, Y, sample_weight=WEIGHT)  # not a scorer


@OURS
def test_several_metrics_ask_one_by_one(make):
    seen, others = [], []
    with config_context(enable_metadata_routing=True):
        scoring = {
            "weighted": noting(seen).set_score_request(sample_weight=True),
            "plain": noting(others).set_score_request(sample_weight=False),
        }
        make(cv=2, scoring=scoring, refit="plain").fit(X, Y, sample_weight=WEIGHT)
        assert all(weight is not None for weight in seen)
        assert all(weight is None for weight in others)
        scoring["plain"] = "f1"
        with refusing_weights():
            make(cv=2, scoring=scoring, refit="plain").fit(X, Y, sample_weight=WEIGHT)


@pytest.mark.parametrize("name", ["accuracy", "neg_log_loss"])
def test_the_same_search_as_without_routing(name):
    plain = linear(cv=2, scoring=name).fit(X, Y, sample_weight=WEIGHT)
    unweighted = linear(cv=2, scoring=name).fit(X, Y)
    with config_context(enable_metadata_routing=True):
        asking = get_scorer(name).set_score_request(sample_weight=True)
        routed = linear(cv=2, scoring=asking).fit(X, Y, sample_weight=WEIGHT.tolist())
        without = linear(cv=2, scoring=asking).fit(X, Y)
        refusing = get_scorer(name).set_score_request(sample_weight=False)
        partly = linear(cv=2, scoring=refusing).fit(X, Y, sample_weight=WEIGHT)
    column = "mean_test_score"
    np.testing.assert_allclose(routed.cv_results_[column], plain.cv_results_[column])
    np.testing.assert_allclose(without.cv_results_[column], unweighted.cv_results_[column])
    assert not np.allclose(partly.cv_results_[column], plain.cv_results_[column])
    assert type(routed.best_rule_) is type(plain.best_rule_)


def test_other_metadata_of_scorers():
    def net_value(y, labels, value, unit):
        assert unit == "EUR"
        return float(value[y == labels].sum() / value.sum())

    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(net_value).set_score_request(value=True, unit=True)
        model = linear(cv=2, scoring=scorer).fit(X, Y, value=WEIGHT, unit="EUR")
        assert 0 < model.best_score_ <= 1
        with pytest.raises(TypeError, match="price"):
            linear(cv=2, scoring=scorer).fit(X, Y, price=WEIGHT)
    with pytest.raises(TypeError, match="enable_metadata_routing"):
        linear(cv=2).fit(X, Y, value=WEIGHT)


def test_the_parts_of_the_router():
    with config_context(enable_metadata_routing=True):
        model = linear(cv=GroupKFold(2), scoring=["f1", "accuracy"], aim="precision_macro")
        parts = dict(make_router(model, model._goal()))
        assert set(parts) == {"$self_request", "splitter", "scorer", "aim"}
        assert set(dict(make_router(linear(aim="f1"), linear(aim="f1")._goal()))) == {
            "$self_request",
            "splitter",
        }
