"""DecisionClassifierCV: scikit-learn's checks, any classifier, groups, weights, prefit."""

import numpy as np
import pandas as pd
import pytest
from group_splitters import WatchedGroups
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from weight_requests import refusing_weights

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import Costs, DecisionClassifierCV, FBeta, fit_rule


def expected_failures(estimator):
    aim = getattr(estimator, "aim", None)
    if aim == "accuracy":
        return {}
    return {"check_classifiers_train": "labels serve the aim: they are not argmax of proba"}


@parametrize_with_checks(
    [
        DecisionClassifierCV(LogisticRegression(), "accuracy", cv=2),
        DecisionClassifierCV(LogisticRegression(), FBeta(average="macro"), cv=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_classification(1500, 8, weights=[0.93], flip_y=0.02, random_state=0)


def test_the_rule_is_that_of_out_of_fold_probabilities(data):
    X, y = data
    model = DecisionClassifierCV(LogisticRegression(), "f1").fit(X, y)
    proba = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")
    assert model.rule_ == fit_rule(proba, y, "f1")
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))
    assert f1_score(y, model.predict(X)) > f1_score(y, plain.predict(X))


def test_beside_scikit_learns_threshold(data):
    X, y = data
    ours = DecisionClassifierCV(LogisticRegression(), "f1", evidence=1).fit(X[:750], y[:750])
    theirs = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1").fit(X[:750], y[:750])
    scores = [f1_score(y[750:], model.predict(X[750:])) for model in (ours, theirs)]
    assert scores[0] > scores[1] - 0.05


def test_many_classes_and_a_pipeline():
    X, y = make_classification(
        1500, 8, n_informative=5, n_classes=3, weights=[0.85, 0.1], random_state=0
    )
    names = np.array(["a", "b", "c"])[y]
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(50, random_state=0))
    half = slice(None, None, 2), slice(1, None, 2)
    model = DecisionClassifierCV(forest, "balanced_accuracy", cv=3).fit(X[half[0]], names[half[0]])
    plain = clone(forest).fit(X[half[0]], names[half[0]])
    scores = [
        balanced_accuracy_score(names[half[1]], one.predict(X[half[1]])) for one in (model, plain)
    ]
    assert scores[0] > scores[1] + 0.05
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_prefit(data):
    X, y = data
    fitted = LogisticRegression().fit(X[:500], y[:500])
    model = DecisionClassifierCV(fitted, Costs([1, 10]), cv="prefit").fit(X[500:], y[500:])
    assert model.estimator_ is fitted
    assert model.rule_.threshold == pytest.approx(1 / 11)
    with pytest.raises(Exception, match="not fitted"):
        DecisionClassifierCV(LogisticRegression(), cv="prefit").fit(X, y)


def test_names_of_features_are_those_of_the_last_fit(data):
    X, y = data
    model = DecisionClassifierCV(cv=2).fit(pd.DataFrame(X).add_prefix("x"), y)
    assert model.feature_names_in_[0] == "x0"
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_groups_reach_the_splitter(data):
    X, y = data
    groups = np.arange(len(y)) // 5

    class Watching(GroupKFold):
        def split(self, X, y=None, groups=None):
            assert groups is not None
            return super().split(X, y, groups)

    model = DecisionClassifierCV(LogisticRegression(), cv=Watching(3)).fit(X, y, groups=groups)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("routing", [True, False])
def test_groups_are_not_ignored_by_a_number_of_folds(data, routing):
    X, y = data
    groups = np.arange(len(y)) // 5
    with (
        config_context(enable_metadata_routing=routing),
        pytest.raises(ValueError, match=r"such as cv=StratifiedGroupKFold\(4\); got cv=4"),
    ):
        DecisionClassifierCV(LogisticRegression(), cv=4).fit(X, y, groups=groups)


def test_weights_reach_the_fits_and_the_rule(data):
    X, y = data
    weight = np.where(y == 1, 5.0, 1.0)
    model = DecisionClassifierCV(LogisticRegression(), "balanced_accuracy")
    plain, weighted = clone(model).fit(X, y), clone(model).fit(X, y, sample_weight=weight)
    assert not np.allclose(plain.predict_proba(X), weighted.predict_proba(X))
    share = weight[y == 1].sum() / weight.sum()
    assert weighted.rule_.threshold == pytest.approx(share)


@pytest.mark.filterwarnings("ignore:the probabilities refer to:UserWarning")  # weights apart
def test_weights_of_pipelines_and_of_estimators_without_them(data):
    X, y = data
    weight = np.where(y == 1, 5.0, 1.0)
    share = weight[y == 1].sum() / weight.sum()
    plain = DecisionClassifierCV(LogisticRegression()).fit(X, y, sample_weight=weight)
    pipeline = make_pipeline(FunctionTransformer(), LogisticRegression())
    model = DecisionClassifierCV(pipeline).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        neighbours = DecisionClassifierCV(KNeighborsClassifier()).fit(X, y, sample_weight=weight)
    # The probabilities refer to the shares without weights.
    assert share > 0.25
    assert neighbours.rule_.threshold == pytest.approx(y.mean(), abs=0.03)


def test_labels_do_not_matter(data):
    X, y = data
    first = DecisionClassifierCV(LogisticRegression(class_weight={0: 10}), "f1").fit(X, y)
    second = DecisionClassifierCV(LogisticRegression(class_weight={1: 10}), "f1").fit(X, y + 1)
    assert second.rule_.threshold == first.rule_.threshold
    np.testing.assert_array_equal(second.predict(X), first.predict(X) + 1)
    names = np.array(["common", "rare"])
    named = IMMAXClassifier(margins={"common": 1.0, "rare": 2.0})
    model = DecisionClassifierCV(named, "f1").fit(X, names[y])
    coded = DecisionClassifierCV(IMMAXClassifier(margins=[1.0, 2.0]), "f1").fit(X, y)
    assert model.rule_.threshold == coded.rule_.threshold


@pytest.mark.filterwarnings("ignore:the probabilities refer to:UserWarning")  # weights apart
def test_metadata_routing(data):
    X, y = data
    weight = np.where(y == 1, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        asking = LogisticRegression().set_fit_request(sample_weight=True)
        routed = DecisionClassifierCV(asking).fit(X, y, sample_weight=weight)
        refusing = LogisticRegression().set_fit_request(sample_weight=False)
        unweighted = DecisionClassifierCV(refusing).fit(X, y, sample_weight=weight)
    plain = DecisionClassifierCV(LogisticRegression()).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(routed.predict_proba(X), plain.predict_proba(X))
    expected = LogisticRegression().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(unweighted.predict_proba(X), expected)


@pytest.mark.parametrize("routing", [True, False])
def test_folds_keep_groups_together(data, routing):
    X, y = data
    groups = np.arange(len(y)) // 5
    shared = []
    with config_context(enable_metadata_routing=routing):
        DecisionClassifierCV(cv=WatchedGroups(3, shared)).fit(X, y, groups=groups)
    assert shared == [set()] * 3


def test_groups_in_a_nested_cross_validation(data):
    X, y = data
    groups = np.arange(len(y)) // 5
    shared = []
    with config_context(enable_metadata_routing=True):
        inner = IMMAXClassifierCV(n_margins=1, lams=[0.1], cv=WatchedGroups(2, shared))
        told = DecisionClassifierCV(cv=WatchedGroups(3, shared)).set_fit_request(groups=True)
        for model in (
            DecisionClassifierCV(cv=WatchedGroups(3, shared)),
            told,
            DecisionClassifierCV(inner, cv=2),
            DecisionClassifierCV(cv=2),
        ):
            found = cross_validate(
                model, X, y, cv=GroupKFold(2), params={"groups": groups}, error_score="raise"
            )
            assert np.isfinite(found["test_score"]).all()
    assert shared == [set()] * (6 + 6 + 2 * 3 * 2)


@pytest.mark.filterwarnings("ignore:the probabilities refer to:UserWarning")  # weights apart
def test_estimators_get_metadata_under_other_names(data):
    X, y = data
    weight = np.where(y == 1, 5.0, 1.0)
    plain = DecisionClassifierCV(LogisticRegression(), cv=3).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        renamed = LogisticRegression().set_fit_request(sample_weight="importance")
        model = DecisionClassifierCV(renamed, cv=3).fit(X, y, importance=weight)
        with pytest.raises(UnsetMetadataPassedError):
            DecisionClassifierCV(LogisticRegression()).fit(X, y, sample_weight=weight)
        with pytest.raises(TypeError, match="price"):
            DecisionClassifierCV(renamed).fit(X, y, price=weight)
        fitted = LogisticRegression().fit(X, y)
        prefit = DecisionClassifierCV(fitted, cv="prefit").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))
    assert prefit.rule_.prior[1] == pytest.approx(weight[y == 1].sum() / weight.sum())


def test_an_aim_that_is_a_scorer_asks_for_weights(data):
    X, y = data
    weight = np.where(y == 1, 5.0, 1.0)
    seen = []

    def score(y, predicted, sample_weight=None):
        seen.append(sample_weight)
        return accuracy_score(y, predicted, sample_weight=sample_weight)

    with config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        with refusing_weights():
            DecisionClassifierCV(estimator, make_scorer(score)).fit(X, y, sample_weight=weight)
        for asked in (True, False):
            aim = make_scorer(score).set_score_request(sample_weight=asked)
            seen.clear()
            DecisionClassifierCV(estimator, aim, cv=2).fit(X, y, sample_weight=weight)
            assert any(own is not None for own in seen) == asked


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match="no predict_proba"):
        DecisionClassifierCV(LinearSVC()).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        DecisionClassifierCV().fit(X, np.zeros(len(y)))
    one = np.zeros(len(y), int)
    one[0] = 1
    with pytest.raises(ValueError, match="two samples or more"):
        DecisionClassifierCV().fit(X, one)
    ordered = np.sort(y)
    half = [(np.arange(700), np.arange(700, 1500)), (np.arange(700, 1500), np.arange(700))]
    with pytest.raises(ValueError, match="has no sample of"):
        DecisionClassifierCV(cv=half).fit(X, ordered)
    with pytest.raises(ValueError, match="'prefit'"):
        DecisionClassifierCV(cv="five").fit(X, y)


def test_scorers_are_given_the_features():
    """Errors where the first feature is positive cost nothing: the rule is for the others."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    frame = pd.DataFrame({"a": rng.choice([-1.0, 1.0], 400), "b": rng.normal(size=400) + y})
    frame.index = np.arange(400)[::-1]

    def score(model, X, labels):
        matters = X["a"].to_numpy() < 0
        return float((model.predict(X) == labels)[matters].mean())

    model = DecisionClassifierCV(aim=score, cv=3).fit(frame, y)
    assert score(model, frame, y) >= score(DecisionClassifierCV(cv=3).fit(frame, y), frame, y)
