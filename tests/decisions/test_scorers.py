"""Scorers of scikit-learn as aims."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer, precision_score

from immax.decisions import fit_rule
from immax.decisions.scorers import ScorerAim, known_scorers, scorer_aim, search_by_calls


def test_a_scorer_scores_labels_with_and_without_weights():
    y, labels = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    aim = scorer_aim("f1")
    assert aim.value_of_labels(y, labels) == pytest.approx(f1_score(y, labels))
    expected = f1_score(y, labels, sample_weight=weight)
    assert aim.value_of_labels(y, labels, weight) == pytest.approx(expected)


def test_a_scorer_without_weights_judges_all_samples_alike():
    def share(model, X, y):
        return float(np.mean(model.predict(X) == y))

    y, labels = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    assert scorer_aim(share).value_of_labels(y, labels, np.arange(4.0)) == 0.75
    assert not scorer_aim(share).takes_weights
    assert scorer_aim("f1").takes_weights
    p = np.array([0.1, 0.6, 0.7, 0.2])
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        rule = fit_rule(np.c_[1 - p, p], y, share, sample_weight=np.ones(4))
    assert rule == fit_rule(np.c_[1 - p, p], y, share)


def test_a_rule_that_never_predicts_a_class_is_no_reason_to_warn():
    aim = scorer_aim(make_scorer(precision_score))
    assert aim.value_of_labels(np.array([0, 1]), np.array([0, 0])) == 0


def test_scorers_of_probabilities_are_refused():
    for name in ("roc_auc", "neg_log_loss", "average_precision"):
        with pytest.raises(ValueError, match="which no rule changes"):
            scorer_aim(name)


def test_confusion_matrices_are_refused():
    with pytest.raises(TypeError, match="needs labels"):
        ScorerAim(make_scorer(f1_score)).value(np.eye(2))


def test_names():
    assert {"f1", "accuracy", "precision_macro"} <= set(known_scorers())


def test_search_by_calls_finds_the_best_threshold():
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=150) < 0.2).astype(int)
    p = 1 / (1 + np.exp(2 - 2 * y - rng.normal(size=150)))
    log_p = np.log(np.c_[1 - p, p])
    offsets = search_by_calls(log_p, lambda d: f1_score(y, d, zero_division=0), np.zeros(2))
    found = f1_score(y, np.argmax(log_p + offsets, axis=1))
    assert found == pytest.approx(max(f1_score(y, p >= t) for t in p))


def test_many_values_are_searched_from_coarse_to_fine():
    rng = np.random.default_rng(0)
    y = rng.choice(4, 1200, p=[0.6, 0.25, 0.1, 0.05])
    log_p = rng.normal(size=(1200, 4)) + 1.2 * np.eye(4)[y] + np.log([0.6, 0.25, 0.1, 0.05])
    calls = []

    def evaluate(decided):
        calls.append(0)
        return f1_score(y, decided, average="macro", zero_division=0)

    offsets = search_by_calls(log_p, evaluate, np.zeros(4), 200)
    assert len(calls) <= 1 + 3 * 4 * 42  # of 2,401, if all 200 values were tried
    found = evaluate(np.argmax(log_p + offsets, axis=1))
    for k in range(4):  # no value of a single offset is better by more than the resolution
        for value in offsets[k] + np.linspace(-3, 3, 61):
            trial = offsets.copy()
            trial[k] = value
            assert evaluate(np.argmax(log_p + trial, axis=1)) <= found + 0.002


def test_scores_that_are_not_defined_do_not_hide_others():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 400, p=[0.7, 0.25, 0.05])
    log_p = rng.normal(size=(400, 3)) + 1.5 * np.eye(3)[y]

    def evaluate(decided):
        score = f1_score(y, decided, average="macro", zero_division=0)
        return score if (decided == 2).any() else np.nan

    start = np.array([0.0, 0.0, -20.0])
    assert np.isnan(evaluate(np.argmax(log_p + start, axis=1)))
    for begin in (start, np.zeros(3)):
        offsets = search_by_calls(log_p, evaluate, begin)
        assert evaluate(np.argmax(log_p + offsets, axis=1)) > evaluate(np.argmax(log_p, axis=1))


def test_a_scorer_may_look_at_columns_of_the_features():
    def score(model, X, y):
        return float(np.average(model.predict(X) == y, weights=X["weight"]))

    assert scorer_aim(score).name == "scorer"


def test_scorers_never_decide_for_classes_of_probability_zero():
    proba = np.array([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    aim = make_scorer(precision_score, average="macro", zero_division=0)
    decided = fit_rule(proba, [0, 2, 1, 2], aim).decide(proba)
    assert (proba[np.arange(4), decided] > 0).all()
