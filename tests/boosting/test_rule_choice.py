"""Rules in closed form."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from immax.boosting.rule_choice import closed_form_rule, most_probable_rule
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
