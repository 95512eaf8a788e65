"""The folds of a protocol, and the estimators that it makes."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax.compare.protocol import (
    LAMS,
    POWERS,
    Protocol,
    fit_candidate,
    fold_settings,
    make_candidate,
)
from immax.decisions import Budget, Costs, rule_of
from immax.errors import WrongCall
from immax.evaluation.metrics import METRICS


def test_every_row_is_tested_once_in_each_repeat():
    codes = np.repeat([0, 1], [200, 40])
    splits = Protocol(folds=4, repeats=2).splits(codes)
    assert len(splits) == 8
    for repeat in (splits[:4], splits[4:]):
        assert sorted(np.concatenate([split.test for split in repeat])) == list(range(240))
    for split in splits:
        assert not set(split.train) & set(split.test)
        assert len(split.train) + len(split.test) == 240
        assert np.bincount(codes[split.test]).tolist() == [50, 10]


def test_results_of_a_fold_do_not_depend_on_the_number_of_repeats():
    plain = repr(fold_settings(Protocol()))
    assert repr(fold_settings(Protocol(repeats=3, max_repeats=5))) == plain
    for other in (Protocol(folds=4), Protocol(seed=1), Protocol("f1")):
        assert repr(fold_settings(other)) != plain


def test_repeats_and_seeds_give_other_folds():
    codes = np.repeat([0, 1], [60, 12])
    first, second = (
        np.sort(split.test).tolist() for split in Protocol(folds=3, repeats=2).splits(codes)[::3]
    )
    assert first != second
    other = Protocol(folds=3, seed=1).splits(codes)[0].test
    assert np.sort(other).tolist() == second  # the seeds of repeats follow each other


def test_repeats_for_open_answers_follow_the_others():
    codes = np.repeat([0, 1], [60, 12])
    both = Protocol(folds=3, repeats=2).splits(codes)
    own = Protocol(folds=3, max_repeats=2)
    assert own.planned_folds == 3
    for a, b in zip(own.splits(codes), both, strict=True):
        np.testing.assert_array_equal(a.test, b.test)


def test_a_class_may_have_fewer_rows_than_there_are_folds():
    codes = np.repeat([0, 1], [30, 3])
    assert len(Protocol(folds=5).splits(codes)) == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "macro_f2"}, "did you mean 'macro_f1'"),
        ({"folds": 1}, "at least 2 folds"),
        ({"repeats": 0}, "1 repeat"),
        ({"repeats": 3, "max_repeats": 2}, "max_repeats must be at least repeats, 3; got 2"),
    ],
)
def test_impossible_protocols_are_refused(settings, message):
    with pytest.raises(WrongCall, match=message):
        Protocol(**settings)


@pytest.mark.parametrize("metric", METRICS)
def test_hyper_parameters_are_selected_for_the_metric(metric):
    y = np.repeat([0, 1], [40, 20])
    protocol = Protocol(metric)
    scorer = protocol.scorer(np.arange(2), np.bincount(y))
    search = make_candidate("ce", y, protocol, scorer)
    margins = make_candidate("immax", y, protocol, scorer)
    if scorer.aim is None:
        assert search.scoring == METRICS[metric].scorer
        assert search.param_grid["lam"] == list(LAMS)
        assert tuple(margins.family.values) == POWERS
        return
    assert search.scorers == (scorer,)
    assert search.grid["lam"] == list(LAMS)
    own = margins.make(scorer)
    assert (own.aim, own.family) == (scorer.aim, "auto")  # weights and margins together


def test_methods_decide_by_themselves_for_the_accuracy():
    scorer = Protocol("accuracy").scorer(np.arange(2), np.array([40, 20]))
    assert scorer.aim is None
    assert Protocol(aim=Costs([1, 5])).scorer(np.arange(2), np.array([40, 20])).sign == -1


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 5, weights=[0.85], class_sep=0.7, random_state=0)


@pytest.mark.parametrize("aim", [Costs([1.0, 10.0]), Budget(share=0.1), Budget(count=9)])
@pytest.mark.parametrize("name", ["logistic", "weights", "ce", "svm", "xgb", "immax"])
def test_every_candidate_serves_every_aim(data, name, aim):
    X, y = data
    protocol = Protocol(aim=aim)
    scorer = protocol.scorer(np.arange(2), np.bincount(y))
    model, chosen = fit_candidate(name, X, y, protocol, scorer)
    json.dumps(chosen)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    rule = rule_of(model)
    decided_by = model.decision_proba(X) if name == "immax" else model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), rule.predict(decided_by))
    positives = int(model.predict(X).sum())
    if aim == Budget(count=9):
        assert positives == 9
    elif isinstance(aim, Budget):
        assert 10 < positives < 90  # of 300, by a threshold for new rows
    else:
        assert rule.aim == "costs"
        assert positives > y.sum()


def test_a_tuned_threshold_has_decisions_of_its_own():
    y = np.repeat([0, 1], [40, 20])
    X, protocol = np.arange(60.0)[:, None], Protocol("gmean")
    scorer = protocol.scorer(np.arange(2), np.bincount(y))
    model, _ = fit_candidate("threshold", X, y, protocol, scorer)
    assert rule_of(model) is None
    assert (model.predict(X) == y).mean() > 0.9
