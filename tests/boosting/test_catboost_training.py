"""Objectives, metrics and the learning rate of CatBoost."""

import numpy as np
import pytest
from catboost import CatBoostClassifier
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from immax.boosting import IMMAXCatBoostClassifier
from immax.boosting.catboost_training import (
    catboost_metric,
    catboost_objective,
    choose_learning_rate,
)
from immax.boosting.derivatives import SampleDerivatives
from immax.boosting.description import Description
from immax.boosting.eval_metrics import find_metrics
from immax.boosting.loss import BoostingLoss
from immax.losses.catalog import make_spec

QUIET = {"verbose": False, "thread_count": 1, "allow_writing_files": False}


def loss_of(c):
    return BoostingLoss(make_spec("immax", np.geomspace(900, 50, c)), np.arange(c), np.zeros(1))


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("params", [{}, {"n_estimators": 40}, {"reg_lambda": 3.0}], ids=str)
@pytest.mark.parametrize("held_out", [False, True])
def test_the_learning_rate_is_the_one_that_catboost_chooses(c, params, held_out):
    X, y = make_classification(300, 8, n_informative=4, n_classes=c, random_state=0)
    eval_set = (X[:50], y[:50]) if held_out else None
    params = {"iterations": 12} | params if "n_estimators" not in params else params
    expected = CatBoostClassifier(**params, **QUIET).fit(X, y, eval_set=eval_set).learning_rate_
    assert choose_learning_rate(params, len(y), c, held_out) == expected
    if not held_out:
        model = IMMAXCatBoostClassifier(**params, **QUIET).fit(X, y)
        assert model.learning_rate_ == expected


def test_a_learning_rate_that_is_given_is_kept():
    assert choose_learning_rate({"learning_rate": 0.1}, 100, 2, False) is None
    assert choose_learning_rate({"eta": 0.1}, 100, 2, False) is None


def test_defaults_are_as_good_as_catboosts():
    X, y = make_classification(
        1200, 20, n_informative=8, n_classes=4, class_sep=0.7, random_state=0
    )
    scores = [
        kind(iterations=20, **QUIET).fit(X[:800], y[:800]).score(X[800:], y[800:])
        for kind in (CatBoostClassifier, IMMAXCatBoostClassifier)
    ]
    assert scores[1] > scores[0] - 0.04


def test_nothing_is_printed_unless_asked(capfd):
    X, y = make_classification(100, 5, random_state=0)
    params = {"iterations": 2, "thread_count": 1, "allow_writing_files": False}
    IMMAXCatBoostClassifier(**params).fit(X, y, eval_set=(X, y))
    assert capfd.readouterr().out == ""
    IMMAXCatBoostClassifier(**params, verbose=True).fit(X, y)
    assert "learn: " in capfd.readouterr().out
    IMMAXCatBoostClassifier(**params).fit(X, y, verbose=True)
    assert "learn: " in capfd.readouterr().out


@pytest.mark.parametrize("c", [2, 3])
def test_metrics_have_names_and_see_the_link(c):
    rng = np.random.default_rng(0)
    description = Description(loss_of(c))
    scores = rng.standard_normal((40, 1 if c == 2 else c))
    y, weight = rng.integers(0, c, 40), rng.uniform(1, 2, 40)
    own = catboost_metric(find_metrics(None, "catboost", c)[0], description)
    assert type(own).__name__ == ("Logloss" if c == 2 else "MultiClass")
    assert not own.is_max_optimal()
    proba = description.loss.proba(scores[:, 0] if c == 2 else scores)
    expected = log_loss(y, proba, sample_weight=weight)
    assert own.get_final_error(*own.evaluate(scores.T, y, weight)) == pytest.approx(expected)

    class Mine:
        def is_max_optimal(self):
            return True

        def get_final_error(self, error, weight):
            return error / weight

        def evaluate(self, approxes, target, weight):
            raw = np.array(approxes)
            raw = np.stack([np.zeros(raw.shape[1]), raw[0]]) if len(raw) == 1 else raw
            p = np.exp(raw) / np.exp(raw).sum(axis=0)
            return -np.log(p[np.asarray(target), np.arange(40)]) @ np.asarray(weight), sum(weight)

    mine = catboost_metric(Mine(), description)
    assert type(mine).__name__ == "Mine"
    assert mine.is_max_optimal()
    assert mine.get_final_error(*mine.evaluate(scores.T, y, weight)) == pytest.approx(expected)


@pytest.mark.parametrize("c", [2, 3])
def test_objectives_are_minus_the_loss(c):
    loss, step = loss_of(c), 1e-5
    h = np.random.default_rng(0).standard_normal(1 if c == 2 else c)

    def value(scores):
        return -loss.losses(scores if c == 2 else scores[None], np.array([1]))[0]

    own = catboost_objective(loss)
    numeric = [(value(h + e) - value(h - e)) / (2 * step) for e in step * np.eye(len(h))]
    if c == 2:
        found = own.calc_ders_range(h, np.array([1.0]), None)[0, 0]
        assert found == pytest.approx(numeric[0], rel=1e-4)
    else:
        gradient, hessian = own.calc_ders_multi(h, 1.0, 1.0)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4)
        assert np.shape(list(hessian)) == (c, c)


def test_a_hessian_comes_with_the_gradient_where_that_of_the_sample_before_was_used(monkeypatch):
    own, h = catboost_objective(loss_of(3)), np.array([0.3, -1.0, 2.0])
    calls = []
    both = SampleDerivatives.gradient_hessian

    def counted(*arguments):
        calls.append(arguments)
        return both(*arguments)

    monkeypatch.setattr(SampleDerivatives, "gradient_hessian", counted)
    seen = []
    for n_before, uses in ((0, True), (1, True), (1, False), (0, False), (0, True)):
        calls.clear()
        gradient, hessian = own.calc_ders_multi(h, 1.0, 2.0)
        assert len(calls) == n_before
        seen.append((gradient, list(hessian)) if uses else (gradient, seen[0][1]))
        assert len(calls) == max(n_before, uses)
    assert all(pair == seen[0] for pair in seen)
