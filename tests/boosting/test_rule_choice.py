"""Rules in closed form, and out-of-fold probabilities."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_predict

from immax.boosting.rule_choice import closed_form_rule, most_probable_rule, out_of_fold_proba
from immax.decisions import AIMS, Budget, Costs, fit_rule, resolve_aim

X, y = make_classification(200, 5, weights=[0.8], random_state=0)
PRIOR = np.bincount(y) / len(y)


@pytest.mark.parametrize("aim", [*AIMS, Costs([1, 5]), Costs({0: 1, 1: 5}), Budget(count=7)])
def test_closed_forms_are_those_of_fitted_rules(aim):
    aim = resolve_aim(aim)
    rule = closed_form_rule(aim, np.arange(2), PRIOR)
    if rule is None:
        assert aim.gains(np.arange(2), PRIOR) is None
        return
    proba = LogisticRegression().fit(X, y).predict_proba(X)
    expected = fit_rule(proba, y, aim)
    np.testing.assert_allclose(rule.gains, expected.gains)
    np.testing.assert_allclose(rule.prior, expected.prior)
    assert (rule.aim, rule.count, rule.positive) == (expected.aim, expected.count, 1)


def test_the_most_probable_class():
    rule = most_probable_rule(np.array(["a", "b"]), PRIOR)
    assert rule.predict([[0.6, 0.4], [0.4, 0.6]]).tolist() == ["a", "b"]


def test_out_of_fold_probabilities_are_scikit_learns():
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    seen = []

    def fit(X, y, own):
        seen.append(None if own is None else len(own))
        return LogisticRegression().fit(X, y, sample_weight=own)

    folds = StratifiedKFold(4)
    found = out_of_fold_proba(fit, X, y, weight, folds)
    expected = cross_val_predict(
        LogisticRegression(),
        X,
        y,
        cv=folds,
        method="predict_proba",
        params={"sample_weight": weight},
    )
    np.testing.assert_allclose(found, expected)
    assert seen == [150] * 4
    out_of_fold_proba(fit, X, y, None, 2)
    assert seen[-1] is None


def test_what_is_refused():
    def fit(X, y, own):
        return LogisticRegression().fit(X, y)

    with pytest.raises(ValueError, match="must test every sample once"):
        out_of_fold_proba(fit, X, y, None, ShuffleSplit(2, random_state=0))
    with pytest.raises(ValueError, match=r"has no sample of \[1\]"):
        out_of_fold_proba(fit, X, np.sort(y), None, KFold(2))
