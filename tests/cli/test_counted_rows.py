"""The rows of a budget, chunk by chunk."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from immax.cli.counted_rows import CountedRows, counted_rule, decision_proba
from immax.compare.final_model import CodedLabels
from immax.decisions import Budget, DecidedModel, DecisionClassifierCV, fit_rule

X, y = make_classification(200, 5, weights=[0.8], random_state=0)


@pytest.mark.parametrize("count", [1, 7, 30, 500])
def test_chunks_do_not_matter(count):
    p = np.random.default_rng(0).integers(0, 12, 200) / 12  # with many ties
    rule = fit_rule(np.c_[1 - p, p], y, Budget(count=count))
    rows = CountedRows(count)
    for begin in range(0, 200, 30):
        rows.add(p[begin : begin + 30])
    found = np.concatenate([rows.contains(0, 90), rows.contains(90, 110)])
    np.testing.assert_array_equal(found, rule.decide(np.c_[1 - p, p]) == 1)


def test_models_with_a_number_of_rows():
    plain = LogisticRegression().fit(X, y)
    rule = fit_rule(plain.predict_proba(X), y, Budget(count=7))
    coded = CodedLabels(DecidedModel(plain, rule), np.array(["no", "yes"]))
    model = make_pipeline(FunctionTransformer(), coded)
    assert counted_rule(model) is rule
    np.testing.assert_allclose(decision_proba(model, X), plain.predict_proba(X))
    assert counted_rule(plain) is None
    assert counted_rule(DecisionClassifierCV(aim="f1", cv=2).fit(X, y)) is None
