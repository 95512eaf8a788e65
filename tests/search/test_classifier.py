"""The search for linear classifiers, as its users meet it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics import balanced_accuracy_score, log_loss, make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.datasets import long_tailed
from immax.margins import power_margins
from immax.paths import lam_max
from immax.search import PowerFamily

SMALL = {"n_margins": 4, "lams": [1e-3, 1e-1]}


@parametrize_with_checks(
    [
        IMMAXClassifierCV(n_margins=3, lams=[1e-2, 1e-1], cv=3),
        IMMAXClassifierCV("hinge", n_margins=1, lams=[1e-2], cv=2),
        IMMAXClassifierCV(n_margins=1, penalty="l1", lams=[1e-1], cv=2),
        IMMAXClassifierCV("exponential", n_margins=2, lams=[1e-1], one_se=False, cv=3),
    ]
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def binary():
    return make_classification(
        500, 8, n_informative=5, weights=[0.85], class_sep=0.7, flip_y=0.05, random_state=0
    )


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, 10, random_state=0)
    return scale(X[keep])[::2], y[keep][::2]


def by_hand(X, y, model, scoring):
    """Fit every cell by itself, cold, to a copy of its fold."""
    folds = StratifiedKFold(model.n_splits_, shuffle=True, random_state=0)
    rows = []
    for cell in model.cv_results_["params"]:
        scores = []
        for train, test in folds.split(X, y):
            counts = np.unique(y[train], return_counts=True)[1]
            rho = model.family_margins(cell["parameters"], counts)
            fit = IMMAXClassifier(
                model.loss, lam=cell["lam"], margins=rho, rule=cell["rule"], tol=1e-8
            )
            scores.append(scoring(fit.fit(X[train], y[train]), X[test], y[test]))
        rows.append(scores)
    return np.array(rows)


class Search(IMMAXClassifierCV):
    """A search that can be asked for the margins of a cell."""

    def family_margins(self, parameters, counts):
        return PowerFamily().margins(parameters, counts)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge"])
def test_cells_are_what_separate_fits_give(binary, loss):
    X, y = binary
    model = Search(loss, n_margins=4, lams=[1e-2, 1e-1]).fit(X, y)
    expected = by_hand(X, y, model, lambda fit, X, y: fit.score(X, y))
    found = np.stack([model.cv_results_[f"split{k}_test_score"] for k in range(5)], axis=1)
    # A sample near the boundary may fall either side of it.
    assert np.abs(found - expected).max() <= 0.021
    assert np.mean(found == expected) > 0.9


def test_cells_of_many_classes_and_by_log_loss(digits):
    X, y = digits
    model = Search(n_margins=3, lams=[1e-3, 1e-1], scoring="neg_log_loss").fit(X, y)
    assert set(model.cv_results_["param_rule"]) == {"score"}  # probabilities have no rule
    labels = np.unique(y)
    expected = by_hand(
        X, y, model, lambda fit, X, y: -log_loss(y, fit.predict_proba(X), labels=labels)
    )
    found = np.stack([model.cv_results_[f"split{k}_test_score"] for k in range(model.n_splits_)], 1)
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_margins_come_from_the_counts_of_each_training_part():
    """A family that records what it was asked."""
    X, y = make_classification(103, 4, weights=[0.8], random_state=0)
    asked = []

    class Recording(PowerFamily):
        def margins(self, parameters, counts):
            asked.append(tuple(int(n) for n in counts))
            return super().margins(parameters, counts)

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    IMMAXClassifierCV(family=Recording(), **SMALL).fit(X, y)
    for train, _ in folds.split(X, y):
        assert tuple(np.bincount(y[train])) in asked


def test_it_is_the_classifier_that_it_chose(digits):
    X, y = digits
    model = IMMAXClassifierCV(**SMALL).fit(X, y)
    assert model.margins_ is model.best_estimator_.margins_
    same = IMMAXClassifier(
        lam=model.best_lam_, margins=model.best_margins_, rule=model.best_rule_
    ).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    np.testing.assert_array_equal(
        model.predict_proba(X), model.probability_estimator_.predict_proba(X)
    )
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
    np.testing.assert_allclose(
        model.best_margins_, power_margins(np.bincount(y), model.best_parameters_[0])
    )
    frame = pd.DataFrame(model.cv_results_)
    best = frame.loc[model.best_index_]
    assert best["mean_test_score"] == model.best_score_
    assert best["param_lam"] == model.best_lam_
    assert best["param_rule"] == model.best_rule_
    assert frame["rank_test_score"].min() == 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_sparse_and_single_precision_choose_alike(binary):
    X, y = binary
    dense = IMMAXClassifierCV(**SMALL).fit(X, y)
    for other in (sparse.csr_matrix(X), X.astype(np.float32)):
        model = IMMAXClassifierCV(**SMALL).fit(other, y)
        np.testing.assert_allclose(
            model.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"], atol=0.01
        )


def test_any_scorer(binary):
    X, y = binary
    names = ["balanced_accuracy", "f1", "roc_auc", "neg_log_loss", "average_precision"]
    for scoring in [*names, make_scorer(balanced_accuracy_score)]:
        model = IMMAXClassifierCV(**SMALL, scoring=scoring).fit(X, y)
        assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    plain = IMMAXClassifierCV(**SMALL).fit(X, y)

    def looks_at_features(estimator, X, y):
        assert X.shape[1] == 8
        return np.mean(estimator.predict(X) == y)

    own = IMMAXClassifierCV(**SMALL, scoring=looks_at_features, rule="score").fit(X, y)
    by_score = plain.cv_results_["param_rule"] == "score"
    np.testing.assert_allclose(
        own.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"][by_score]
    )


def test_balanced_accuracy_asks_for_other_margins():
    """Where classes overlap, the balanced score is best with small margins for frequent ones."""
    X, y = make_classification(
        2000, 5, n_informative=3, n_redundant=0, weights=[0.9], class_sep=0.5, random_state=1
    )
    options = {"lams": [1e-3], "rule": "score", "one_se": False}
    plain = IMMAXClassifierCV(**options).fit(X, y)
    balanced = IMMAXClassifierCV(**options, scoring="balanced_accuracy").fit(X, y)
    assert balanced.best_parameters_[0] > plain.best_parameters_[0]
    assert balanced.best_score_ > 0.6


def test_log_losses_of_cells_are_those_of_separate_fits(binary):
    X, y = binary
    model = Search(n_margins=3, lams=[1e-2, 1e-1]).fit(X, y)
    expected = by_hand(
        X, y, model, lambda fit, X, y: -np.log(fit.predict_proba(X)[np.arange(len(y)), y]).mean()
    )
    found = model.cv_results_["mean_test_log_loss"]
    np.testing.assert_allclose(found, expected.mean(axis=1), rtol=2e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "square"}, "loss must be one of"),
        ({"lams": []}, "lams is empty"),
        ({"lams": [0.0]}, "lams must be positive"),
        ({"n_margins": 0}, "n_margins must be"),
        ({"cv": 1}, "at least two folds"),
        ({"rule": "best"}, "rule must be one of"),
        ({"loss": "hinge", "rule": "bayes"}, "needs probabilities"),
        ({"aim": "f1", "rule": "bayes"}, "an aim finds its own rule"),
        ({"aim": "f1", "costs": [1, 2]}, "aim and costs exclude each other"),
        ({"aim": "f1", "scoring": "recall"}, "aim and scoring='recall' exclude each other"),
        ({"aim": "f3"}, "unknown aim 'f3'"),
        ({"costs": [1, 2, 3]}, r"costs must have shape \(2,\)"),
        ({"costs": [1, -2]}, "not negative"),
        ({"one_se": "yes"}, "one_se must be"),
        ({"evidence": 2}, "evidence must be from 0 to 1"),
        ({"form": "mean"}, "form must be one of"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"scoring": ["accuracy", "f1"]}, "refit must name the one to choose by"),
        ({"scoring": []}, "scoring is empty"),
        ({"scoring": "best"}, "scoring|best"),
        ({"family": "best"}, "family must be one of"),
    ],
)
def test_bad_parameters_are_named(binary, parameters, message):
    with pytest.raises(ValueError, match=message):
        IMMAXClassifierCV(**parameters).fit(*binary)


def test_weights_count_as_samples(binary):
    X, y = binary
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(y))
    folds = [(np.arange(0, 400), np.arange(400, 500)), (np.arange(100, 500), np.arange(100))]
    repeated = np.repeat(np.arange(500), weight)
    again = [
        (np.flatnonzero(np.isin(repeated, a)), np.flatnonzero(np.isin(repeated, b)))
        for a, b in folds
    ]
    one = IMMAXClassifierCV(**SMALL, cv=folds).fit(X, y, sample_weight=weight)
    other = clone(one).set_params(cv=again).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(
        one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], atol=1e-9
    )


def test_the_hinge_has_no_probabilities(binary):
    X, y = binary
    model = IMMAXClassifierCV("hinge", **SMALL).fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert hasattr(IMMAXClassifierCV("hinge", aim="f1"), "predict_proba")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("penalty", ["l1", "elasticnet", "group"])
def test_a_search_along_the_path_of_a_penalty(penalty, binary):
    X, y = binary
    noisy = np.column_stack([X, np.random.default_rng(0).normal(size=(len(y), 20))])
    search = IMMAXClassifierCV(penalty=penalty, n_margins=2, scoring="neg_log_loss").fit(noisy, y)
    lams = np.unique(search.cv_results_["param_lam"])
    assert len(lams) == 12
    assert lams[-1] == pytest.approx(lam_max(noisy, y, IMMAXClassifier(penalty=penalty)), rel=1e-6)
    assert search.best_estimator_.penalty == penalty
    assert search.n_features_used_ == search.best_estimator_.n_features_used_ < 28
    assert search.sparse_coef_.nnz == np.count_nonzero(search.coef_)


def test_penalties_of_a_search_are_checked(binary):
    X, y = binary
    with pytest.raises(ValueError, match="cv='loo' needs penalty='l2'; penalty='l1' has kinks"):
        IMMAXClassifierCV(penalty="l1", cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio"):
        IMMAXClassifierCV(penalty="elasticnet", l1_ratio=-1).fit(X, y)


def test_the_hinge_has_a_path_too(binary):
    X, y = binary
    search = IMMAXClassifierCV("hinge", penalty="l1", n_margins=1, cv=2).fit(X[:150], y[:150])
    assert search.n_features_used_ <= 8
