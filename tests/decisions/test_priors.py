"""Class shares: adjusted exactly, and estimated with an interval."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from immax.decisions.priors import adjust_prior, estimate_prior


def test_adjusting_there_and_back_changes_nothing():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), 50)
    one, two = [0.1, 0.2, 0.3, 0.4], [4, 3, 2, 1]
    there = adjust_prior(proba, one, two)
    np.testing.assert_allclose(adjust_prior(there, two, one), proba, atol=1e-12)


def test_class_weights_are_undone():
    """The probabilities of a weighted model, adjusted, are near those of a plain one."""
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=20_000) < 0.05).astype(int)
    X = rng.normal(size=(20_000, 2)) + y[:, None]
    plain = LogisticRegression().fit(X, y).predict_proba(X)
    weighted = LogisticRegression(class_weight="balanced").fit(X, y).predict_proba(X)
    adjusted = adjust_prior(weighted, trained=[1, 1], actual=np.bincount(y))
    assert np.abs(weighted - plain).mean() > 0.1
    assert np.abs(adjusted - plain).mean() < 0.005


def test_shares_are_estimated_and_their_interval_holds_the_truth():
    rng = np.random.default_rng(3)
    y = (rng.uniform(size=3000) < 0.2).astype(int)
    x = rng.normal(size=3000) + 2 * y
    p = 1 / (1 + np.exp(2 - 2 * x))  # right for equal shares
    found = estimate_prior(np.c_[1 - p, p], [0.5, 0.5])
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares[1] == pytest.approx(0.2, abs=0.03)
    assert found.low[1] < 0.2 < found.high[1]
    assert found.high[1] - found.low[1] < 0.1
    assert np.isnan(estimate_prior(np.c_[1 - p, p], [0.5, 0.5], n_bootstrap=0).low).all()


@pytest.mark.parametrize(
    ("trained", "actual", "message"),
    [
        ([0.5, 0.5, 1], [0.5, 0.5], "trained must be 2"),
        ([0.5, 0.5], [1.0, 0.0], "actual must be positive"),
        ([0.5, 0.5], [np.nan, 1], "actual must be positive"),
    ],
)
def test_wrong_shares(trained, actual, message):
    with pytest.raises(ValueError, match=message):
        adjust_prior([[0.5, 0.5]], trained, actual)


def test_shares_of_pandas_are_in_the_order_of_the_classes():
    counts = pd.Series(["ok"] * 3 + ["fraud"]).value_counts()
    with pytest.raises(TypeError, match=r"trained must be in the order.*\['ok', 'fraud'\]"):
        adjust_prior([[0.5, 0.5]], counts, [1, 1])
    adjusted = adjust_prior([[0.5, 0.5]], counts.sort_index(), [1, 1])
    np.testing.assert_allclose(adjusted, [[0.75, 0.25]])


def test_nothing_to_estimate_from():
    with pytest.raises(ValueError, match="no rows"):
        estimate_prior(np.empty((0, 2)), [1, 1])


def test_an_estimate_that_did_not_converge_says_so():
    proba = [[0.3, 0.7], [0.6, 0.4]]
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        estimate_prior(proba, [0.9, 0.1], max_iter=1, n_bootstrap=0)


@pytest.mark.parametrize("wrong", [{"tol": -1}, {"max_iter": 0}, {"n_bootstrap": -1}])
def test_parameters_of_the_estimate_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        estimate_prior([[0.3, 0.7]], [0.5, 0.5], **wrong)
