"""Fits of heads are those of the linear estimators, with the choice made where it should be."""

import numpy as np
import pytest
from head_cases import samples
from sklearn.linear_model import LogisticRegression

from immax import BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import Rule
from immax.search.families import PowerFamily
from immax.torch.head_data import checked_features
from immax.torch.head_fits import default_lams, fit_catalogue, fit_immax
from immax.torch.head_search import POWERS

X, Y = samples()
HELD, LABELS = samples(120, seed=1)
DATA = checked_features(X.astype(np.float64), Y)


def test_equal_margins_are_logistic_regression():
    fit = fit_immax(DATA, None, "equal", 0.01, tol=1e-10)
    peer = LogisticRegression(C=1 / (2 * 0.01 * len(Y)), tol=1e-10, max_iter=10_000)
    peer.fit(DATA.X, Y)
    np.testing.assert_allclose(fit.coef - fit.coef.mean(0), peer.coef_, atol=1e-5)
    assert fit.record.selected_on == "nothing"
    assert fit.record.gap < 1e-9


@pytest.mark.parametrize("margins", ["theory", 0.25, np.array([1.5, 1.0, 0.5])])
def test_given_margins(margins):
    fit = fit_immax(DATA, None, margins, 0.01)
    known = (
        margins if not isinstance(margins, float) else PowerFamily().margins([0.25], DATA.counts)
    )
    peer = IMMAXClassifier(lam=0.01, margins=known, tol=1e-4).fit(DATA.X, Y)
    np.testing.assert_allclose(fit.coef, peer.coef_)
    np.testing.assert_allclose(fit.spec.temperature, peer.margins_)


def test_the_search_is_that_of_the_estimator():
    fit = fit_immax(DATA, None, "search", None)
    peer = IMMAXClassifierCV(
        scoring="neg_log_loss", lams=default_lams(X), family=PowerFamily(values=POWERS), tol=1e-4
    ).fit(DATA.X, Y)
    assert fit.record.lam == pytest.approx(peer.best_lam_)
    np.testing.assert_allclose(fit.coef, peer.coef_, rtol=1e-5)
    assert fit.record.score == pytest.approx(peer.best_score_, rel=1e-2)
    assert fit.rule == "bayes"


def test_held_out_samples_choose_and_do_not_enter_the_fit():
    fit = fit_immax(DATA, (HELD, LABELS), "search", None)
    power = fit.record.parameters["power"]
    again = fit_immax(DATA, None, power, fit.record.lam)
    np.testing.assert_allclose(fit.coef, again.coef)
    np.testing.assert_array_equal(fit.counts, np.bincount(Y))  # not those of the held-out samples
    scores = {
        (lam, t): _log_loss(fit_immax(DATA, None, t, lam, tol=1e-8))
        for lam in default_lams(np.concatenate([X, HELD]))
        for t in POWERS
    }
    best = min(scores.values())
    assert -fit.record.score == pytest.approx(best, rel=1e-2)


def _log_loss(fit):
    from immax.links import spec_proba

    proba = spec_proba(HELD @ fit.coef.T + fit.intercept, fit.spec)
    return -np.log(proba[np.arange(len(LABELS)), LABELS]).mean()


def test_overfitted_features_get_a_larger_lam_from_held_out_samples():
    # Features that hold the label, as those of a network hold it for its training samples.
    data = checked_features((X + 2 * np.eye(4)[Y]).astype(np.float32), Y)
    lams = np.logspace(-6, 0, 7)
    inside = fit_immax(data, None, "equal", None, lams=lams)
    right = fit_immax(data, (HELD, LABELS), "equal", None, lams=lams)
    assert right.record.lam >= 50 * inside.record.lam


def test_cross_fitting():
    folds = [(X[::2], Y[::2], X[1::2], Y[1::2]), (X[1::2], Y[1::2], X[::2], Y[::2])]
    fit = fit_immax(checked_features(X, Y), folds, "search", None)
    assert fit.record.selected_on == "cross-fitted"
    assert fit.record.n_samples == len(Y)


def test_aims_and_costs_have_their_rules():
    fit = fit_immax(DATA, (HELD, LABELS), "search", None, aim="balanced_accuracy", n_margins=2)
    assert isinstance(fit.rule, Rule)
    assert fit.record.scoring == "balanced_accuracy"
    fit = fit_immax(DATA, (HELD, LABELS), "equal", None, costs=[1, 1, 9], lams=[0.01, 0.1])
    assert isinstance(fit.rule, Rule)


def test_a_selection_without_a_class():
    kept = LABELS < 2
    for fit in (
        fit_immax(DATA, (HELD[kept], LABELS[kept]), "equal", None),
        fit_catalogue(DATA, (HELD[kept], LABELS[kept]), "ldam", None),
    ):
        assert np.isfinite(fit.record.score)
        assert len(fit.coef) == 3


def test_methods_of_the_catalogue():
    fit = fit_catalogue(DATA, None, "ldam", 0.01, method_params={"C": 0.25})
    peer = BaselineClassifier("ldam", method_params={"C": 0.25}, lam=0.01, tol=1e-4).fit(DATA.X, Y)
    np.testing.assert_allclose(fit.coef, peer.coef_)
    fit = fit_catalogue(DATA, (HELD, LABELS), "ldam", None, method_params={"C": [0.1, 1.0]})
    assert fit.record.selected_on == "held-out"
    again = fit_catalogue(
        DATA, None, "ldam", fit.record.lam, method_params=dict(fit.record.parameters)
    )
    assert -fit.record.score == pytest.approx(_log_loss(again), rel=1e-4)


def test_default_lams_follow_the_scale_of_the_features():
    np.testing.assert_allclose(default_lams(10 * X), 100 * default_lams(X), rtol=1e-5)
    assert np.isfinite(default_lams(np.zeros((5, 2)))).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((None, "best", None), {}, "margins must be"),
        ((None, np.ones(3), None), {}, "margins as an array need lam="),
        (((HELD, LABELS), "equal", 0.1), {}, "selection is for a search"),
        ((None, "search", None), {"loss": "hinge"}, "loss is not an option"),
    ],
)
def test_wrong_options_of_immax(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        fit_immax(DATA, *arguments, **options)


def test_wrong_options_of_the_catalogue():
    with pytest.raises(ValueError, match="method must be one of"):
        fit_catalogue(DATA, None, "lda", 0.1)
    with pytest.raises(ValueError, match="selection is for a search"):
        fit_catalogue(DATA, (HELD, LABELS), "ce", 0.1)
