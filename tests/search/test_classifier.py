"""The search for linear classifiers, as its users meet it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score, get_scorer, log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.datasets import gaussian_mixture, long_tailed
from immax.decisions import Costs, RecallAt, Rule
from immax.margins import power_margins
from immax.paths import lam_max
from immax.search import PowerFamily, WeightedFamily

SMALL = {"n_margins": 4, "lams": [1e-3, 1e-1]}


@parametrize_with_checks(
    [
        IMMAXClassifierCV(n_margins=3, lams=[1e-2, 1e-1], cv=3),
        IMMAXClassifierCV("hinge", n_margins=1, lams=[1e-2], cv=2),
        IMMAXClassifierCV(n_margins=1, penalty="l1", lams=[1e-1], cv=2),
        IMMAXClassifierCV("exponential", n_margins=2, lams=[1e-1], one_se=False, cv=3),
    ],
    expected_failed_checks=lambda search: (
        {
            "check_decision_proba_consistency": "scores are those of the decisions, and "
            "probabilities may come from another fit, probability_estimator_"
        }
        if search.n_margins == 3
        else {}
    ),
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


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_an_aim_chooses_the_rule_with_the_cell(binary, loss):
    X, y = binary
    model = IMMAXClassifierCV(loss, aim="f1", lams=[1e-3, 1e-1]).fit(X, y)
    assert isinstance(model.best_rule_, Rule)
    assert "predict 1 when its probability is at least" in str(model.best_rule_)
    table = model.cv_results_
    assert model.best_score_ == pytest.approx(table["total_test_score"].max())
    assert table["rank_test_score"][model.best_index_] == 1
    own = model.best_estimator_
    proba = model.best_calibration_
    p = own.predict_proba(X) if proba is None else proba.proba(own.decision_function(X))
    expected = p[:, 1] >= model.best_rule_.threshold
    np.testing.assert_array_equal(model.predict(X), expected.astype(int))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.best_rule_ == model.best_rule_


def test_cells_are_judged_after_their_best_rule(binary):
    """The pooled score of a cell is that of the best threshold of its held-out probabilities."""
    X, y = binary
    family = WeightedFamily(((0.0, 0.0),))
    model = IMMAXClassifierCV(aim="f1", family=family, lams=[1e-2], evidence=1.0).fit(X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    plain = IMMAXClassifier(lam=1e-2, margins="equal")
    p = cross_val_predict(plain, X, y, cv=folds, method="predict_proba")[:, 1]
    best = max(f1_score(y, p >= threshold) for threshold in p)
    assert model.best_score_ == pytest.approx(best, abs=0.01)


def test_closed_rules_are_not_tuned(binary):
    X, y = binary
    balanced = IMMAXClassifierCV(aim="balanced_accuracy", lams=[1e-2]).fit(X, y)
    assert balanced.best_rule_.threshold == pytest.approx(y.mean())
    costly = IMMAXClassifierCV(costs=[1, 9], lams=[1e-2]).fit(X, y)
    assert costly.best_rule_.threshold == pytest.approx(0.1)
    named = IMMAXClassifierCV(aim=Costs({1: 9, 0: 1}), lams=[1e-2]).fit(X, y)
    assert named.best_rule_.threshold == pytest.approx(0.1)


def test_cross_entropy_weights_margins_and_both_are_one_search(binary):
    X, y = binary
    model = IMMAXClassifierCV(aim="balanced_accuracy", lams=[1e-2]).fit(X, y)
    tried = set(model.cv_results_["param_parameters"])
    assert tried == {(0.0, 0.0), (0.0, 1.0), (1 / 3, 0.0), (-1 / 3, 1.0)}
    assert (model.weights_ == model.best_weights_).all()


def test_ties_go_to_the_simpler_model_and_one_se_has_to_be_asked_for(binary):
    X, y = binary
    model = IMMAXClassifierCV(aim="mcc").fit(X, y)
    totals = model.cv_results_["total_test_score"]
    assert model.best_score_ == pytest.approx(totals.max())
    asked = IMMAXClassifierCV(aim="mcc", one_se=True).fit(X, y)
    assert asked.best_parameters_.tolist() == [0, 0]  # within a standard error of the best
    assert asked.cv_results_["near_best"][asked.best_index_]


def test_a_constraint_that_cannot_be_met_is_reported():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), (rng.random(200) < 0.3).astype(int)
    with pytest.warns(UserWarning, match="no threshold has the recall at precision 0.99"):
        IMMAXClassifierCV(aim=RecallAt(precision=0.99), lams=[1e-1], cv=3).fit(X, y)


def test_an_aim_for_two_classes_is_refused_for_more(digits):
    with pytest.raises(ValueError, match="the aim 'f1' is for two classes; there are 10"):
        IMMAXClassifierCV(aim="f1", lams=[1e-1]).fit(*digits)


def test_many_classes(digits):
    X, y = digits
    model = IMMAXClassifierCV(aim="f1_macro", lams=[1e-2], cv=3).fit(X, y)
    assert "largest weight times probability" in str(model.best_rule_)
    assert model.best_score_ >= model.cv_results_["total_test_score"].max() - 1e-12
    assert f1_score(y, model.predict(X), average="macro") > 0.9


@pytest.fixture(scope="module")
def mixture():
    X, y, truth = gaussian_mixture([4750, 250], 5, 2.0, random_state=0)
    test, labels, _ = gaussian_mixture([95_000, 5_000], 5, 2.0, random_state=1)
    return X, y, test, labels, truth.posterior(test)


@pytest.mark.parametrize("aim", [None, "accuracy", "balanced_accuracy", "f1", "mcc", "log_loss"])
def test_probabilities_are_good_whatever_the_aim(mixture, aim):
    """Log-loss within 1 % of logistic regression's, where the truth is known."""
    X, y, test, labels, truth = mixture
    lams = [1e-4, 1e-2]
    model = IMMAXClassifierCV(aim=aim, lams=lams).fit(X, y)
    found = log_loss(labels, model.predict_proba(test))
    plain = [IMMAXClassifier(lam=lam, margins="equal").fit(X, y) for lam in lams]
    best = min(log_loss(labels, one.predict_proba(test)) for one in plain)
    assert found <= 1.01 * best
    assert np.abs(model.predict_proba(test) - truth).mean() < 0.01


def test_decisions_and_probabilities_may_come_from_two_fits(mixture):
    X, y, test, *_ = mixture
    family = WeightedFamily(((1.0, 0.0),))
    alone = IMMAXClassifierCV(aim="mcc", lams=[1e-4], family=family).fit(X, y)
    assert alone.probability_estimator_ is alone.best_estimator_  # there is no other cell
    both = WeightedFamily(((1.0, 0.0), (0.0, 0.0)))
    model = IMMAXClassifierCV(scoring="roc_auc", rule="score", lams=[1e-4], family=both)
    model.fit(X, y)
    np.testing.assert_array_equal(
        model.predict_proba(test), model.probability_estimator_.predict_proba(test)
    )
    assert model.probability_estimator_.margins_.tolist() == [1, 1]


def test_groups_stay_together(binary):
    X, y = binary
    groups = np.arange(len(y)) // 10
    seen = []

    class Recording(GroupKFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    model = IMMAXClassifierCV(**SMALL, cv=Recording(3)).fit(X, y, groups=groups)
    assert model.n_splits_ == 3
    assert seen == [set()] * 3
    nested = cross_validate(
        GridSearchCV(IMMAXClassifierCV(**SMALL, cv=2), {"one_se": [True]}, cv=2), X, y, cv=2
    )
    assert len(nested["test_score"]) == 2
    with pytest.raises(ValueError, match="groups need a splitter"):
        IMMAXClassifierCV(**SMALL).fit(X, y, groups=groups)


def test_groups_and_weights_are_routed(binary):
    X, y = binary
    groups = np.arange(len(y)) // 10
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        model = IMMAXClassifierCV(**SMALL, cv=GroupKFold(2), scoring=scorer)
        model.set_fit_request(groups=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        found = cross_validate(
            model,
            X,
            y,
            cv=GroupKFold(2),
            params={"groups": groups, "sample_weight": np.ones(len(y))},
        )
    assert np.isfinite(found["test_score"]).all()


def test_several_metrics(binary):
    X, y = binary
    names = ["accuracy", "roc_auc", "f1"]
    model = IMMAXClassifierCV(**SMALL, scoring=names, refit="roc_auc").fit(X, y)
    single = IMMAXClassifierCV(**SMALL, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_roc_auc"], single.cv_results_["mean_test_score"]
    )
    assert model.best_index_ == single.best_index_
    for name in names:
        assert np.isfinite(model.cv_results_[f"split0_test_{name}"]).all()
    aimed = IMMAXClassifierCV(**SMALL, aim="f1", scoring=names).fit(X, y)
    np.testing.assert_allclose(
        aimed.cv_results_["mean_test_f1"], aimed.cv_results_["mean_test_score"]
    )


def test_scorers_see_the_rows_of_the_data_frame(binary):
    X, y = binary
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(8)])
    frame["c0"] = np.arange(len(y))

    def late_rows(estimator, X, y):
        late = X["c0"] >= 250  # by column name
        return np.mean(estimator.predict(X)[late] == y[late])

    model = IMMAXClassifierCV(**SMALL, scoring=late_rows, rule="score").fit(frame, y)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    aimed = IMMAXClassifierCV(lams=[1e-1], cv=3, scoring=late_rows).fit(frame, y)
    assert isinstance(aimed.best_rule_, Rule)


def test_scorers_of_labels_are_not_called_for_the_registry_s_metrics(binary, monkeypatch):
    """Confusion counts take the place of scikit-learn's validation, which took most of the time."""
    import sklearn.metrics._classification as slow

    def refuse(*_, **__):
        raise AssertionError("scikit-learn was called")

    X, y = binary
    IMMAXClassifierCV(**SMALL, aim="f1").fit(X, y)
    monkeypatch.setattr(slow, "precision_recall_fscore_support", refuse)
    IMMAXClassifierCV(**SMALL, aim="f1").fit(X, y)


def test_options_of_the_fits_reach_them(binary):
    X, y = binary
    model = IMMAXClassifierCV(**SMALL, fit_intercept=False, tol=1e-9, max_iter=77).fit(X, y)
    assert model.best_estimator_.get_params()["max_iter"] == 77
    assert model.best_estimator_.tol == 1e-9
    assert model.intercept_.tolist() == [0]


def test_methods_exist_before_fitting():
    assert hasattr(IMMAXClassifierCV(), "predict_proba")
    assert hasattr(IMMAXClassifierCV(), "predict_log_proba")
    assert not hasattr(IMMAXClassifierCV("hinge"), "predict_proba")


def test_the_max_form_is_calibrated():
    X, y = make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    model = IMMAXClassifierCV(form="max", lams=[1e-1], n_margins=1, cv=2).fit(X, y)
    assert model.probability_calibration_ is not None
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_noise_stays_at_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), (rng.random(400) < 0.2).astype(int)
    model = IMMAXClassifierCV(aim="balanced_accuracy", lams=[1e-3, 1e-1])
    scores = cross_val_score(model, X, y, scoring="balanced_accuracy", cv=4)
    assert abs(scores.mean() - 0.5) < 0.06


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
