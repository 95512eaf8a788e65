"""Metrics by hand, and the registry against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as reference
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV

from immax.decisions import AIMS
from immax.evaluation.metrics import (
    METRICS,
    expected_calibration_error,
    measure,
    measure_by_shares,
    own_log_probability,
)


def predictions(n=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.arange(n_classes, 0, -1) / np.arange(n_classes + 1).sum())
    proba = rng.dirichlet(np.ones(n_classes), n)
    proba[np.arange(n), y] += 0.5
    proba /= proba.sum(axis=1, keepdims=True)
    return y, proba.argmax(axis=1), proba


def test_calibration_error_by_hand():
    proba = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.35, 0.65]])
    y = np.array([0, 1, 1, 1])
    # Bins of a fifteenth: 0.9 is one, correct half the time; 0.6 and 0.65 are one, always correct.
    expected = (abs(2 * 0.9 - 1) + abs(1.25 - 2)) / 4
    assert expected_calibration_error(proba, y) == pytest.approx(expected)


def test_a_probability_of_one_is_in_the_last_bin():
    assert expected_calibration_error([[0.0, 1.0], [1.0, 0.0]], [1, 0]) == 0.0
    assert expected_calibration_error([[0.0, 1.0], [1.0, 0.0]], [0, 1]) == 1.0


def test_measures_by_hand():
    y, labels = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    proba = np.array([[0.8, 0.2], [0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
    values = measure(y, labels, proba, 2)
    assert values["accuracy"] == 0.75
    assert values["balanced_accuracy"] == pytest.approx((2 / 3 + 1) / 2)
    assert values["log_loss"] == pytest.approx(-np.log([0.8, 0.9, 0.4, 1.0]).mean())
    assert values["average_precision"] == pytest.approx(1.0)


def test_measures_agree_with_scikit_learn():
    y, labels, proba = predictions()
    values = measure(y, labels, proba, 3)
    assert values["accuracy"] == pytest.approx(reference.accuracy_score(y, labels))
    expected = reference.balanced_accuracy_score(y, labels)
    assert values["balanced_accuracy"] == pytest.approx(expected)
    assert values["f1"] == values["macro_f1"]
    assert values["mcc"] == pytest.approx(reference.matthews_corrcoef(y, labels))
    assert values["kappa"] == pytest.approx(reference.cohen_kappa_score(y, labels))
    expected = reference.jaccard_score(y, labels, average="macro")
    assert values["jaccard"] == pytest.approx(expected)
    assert values["macro_f1"] == pytest.approx(reference.f1_score(y, labels, average="macro"))
    assert values["log_loss"] == pytest.approx(reference.log_loss(y, proba))
    expected = reference.average_precision_score(np.eye(3)[y], proba, average="macro")
    assert values["average_precision"] == pytest.approx(expected)


def test_average_precision_of_two_classes_is_that_of_the_rarer():
    y, labels, proba = predictions(n_classes=2)
    rare = int(np.bincount(y).argmin())
    expected = reference.average_precision_score(y == rare, proba[:, rare])
    assert measure(y, labels, proba, 2)["average_precision"] == pytest.approx(expected)


def test_without_probabilities_the_metrics_that_need_them_are_missing():
    y, labels, proba = predictions()
    without = measure(y, labels, None, 3)
    assert set(without) == {name for name, metric in METRICS.items() if not metric.needs_proba}
    assert without.items() <= measure(y, labels, proba, 3).items()


def test_a_class_without_test_samples_does_not_count():
    y, labels = np.array([0, 0, 1]), np.array([0, 2, 1])
    assert measure(y, labels, None, 3)["balanced_accuracy"] == pytest.approx(0.75)


def test_impossible_predictions_have_a_finite_log_probability():
    own = own_log_probability(np.array([[1.0, 0.0]]), np.array([1]))
    assert own == pytest.approx(np.log(np.finfo(float).eps))


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_rows_of_the_registry_are_consistent(metric):
    assert METRICS[metric.name] is metric
    if metric.scorer:
        get_scorer(metric.scorer)
    assert metric.sign == (1 if metric.higher_is_better else -1)
    assert metric.factor == (100 if metric.is_share else 1)
    assert "_" not in metric.title
    # A perfect prediction is at least as good as any other.
    y, labels, proba = predictions()
    best = metric.compute(y, y, np.eye(3)[y], 3)
    assert metric.sign * best >= metric.sign * metric.compute(y, labels, proba, 3)


def test_metrics_of_two_classes_are_those_of_the_rarer():
    y, labels = np.array([0, 0, 1, 1, 1, 1, 1]), np.array([0, 1, 0, 1, 1, 1, 1])
    values = measure(y, labels, None, 2)
    assert values["f1"] == pytest.approx(reference.f1_score(y, labels, pos_label=0))
    assert values["jaccard"] == pytest.approx(reference.jaccard_score(y, labels, pos_label=0))
    assert values["cost_10_to_1"] == pytest.approx((10 + 1) / 7)
    assert values["gmean"] == pytest.approx(np.sqrt(1 / 2 * 4 / 5))


def test_macro_f1_leaves_out_classes_without_samples_and_predictions():
    y, labels = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    expected = reference.f1_score(y, labels, average="macro")
    assert measure(y, labels, None, 3)["macro_f1"] == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_a_metric_is_a_scorer_of_any_labels(metric):
    X, y = make_classification(200, weights=[0.8], random_state=0)
    names = np.array(["yes", "no"])[y]
    model = LogisticRegression().fit(X, names)
    codes = np.searchsorted(model.classes_, names)
    labels = np.searchsorted(model.classes_, model.predict(X))
    expected = metric.compute(codes, labels, model.predict_proba(X), 2)
    assert metric.score(model, X, names) == pytest.approx(metric.sign * expected)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-3, 1.0]}, scoring=metric.score, cv=2)
    assert np.isfinite(search.fit(X, names).best_score_)


def test_metrics_for_other_class_shares_are_those_of_repeated_samples():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    proba = rng.dirichlet(np.ones(3), size=60)
    labels = proba.argmax(axis=1)
    repeated = np.repeat(np.arange(60), np.array([7, 2, 1])[y])
    expected = measure(y[repeated], labels[repeated], proba[repeated], 3)
    found = measure_by_shares(y, labels, proba, np.array([0.7, 0.2, 0.1]))
    assert found == pytest.approx({name: expected[name] for name in ("accuracy", "log_loss")})
    assert set(measure_by_shares(y, labels, None, np.ones(3) / 3)) == {"accuracy"}


def test_the_rare_class_is_that_of_the_training_data():
    y = np.repeat([0, 1], 20)
    labels = np.r_[np.zeros(12, int), np.ones(8, int), np.zeros(1, int), np.ones(19, int)]
    counts = np.array([99, 101])
    found = measure(y, labels, None, 2, counts)["f1"]
    assert found == pytest.approx(reference.f1_score(y, labels, pos_label=0))
    other = measure(y, labels, None, 2)["f1"]
    assert other == pytest.approx(reference.f1_score(y, labels, pos_label=1))
    three, wrong = np.repeat([0, 1, 2], 10), np.repeat([0, 1, 0], 10)
    cost = METRICS["cost_10_to_1"].for_counts(np.array([300, 300, 20]))
    assert cost(three, wrong, np.empty((30, 0)), 3) == pytest.approx(10 / 3)
    proba = np.c_[1 - y * 0.5, y * 0.5]
    proba[0] = [0.2, 0.8]
    values = measure(y, labels, proba, 2, counts)
    expected = reference.average_precision_score(y == 0, proba[:, 0])
    assert values["average_precision"] == pytest.approx(expected)
    assert METRICS["ece"].for_counts(counts) is METRICS["ece"].compute


ALIASES = {
    "f1_macro": "macro_f1",
    "matthews_corrcoef": "mcc",
    "neg_log_loss": "log_loss",
    "jaccard_macro": "jaccard",
    "f1_micro": "accuracy",
}
"""Aims that another metric judges: by scikit-learn's name, or for three classes or more."""
FOR_THE_SEARCH = {"f2", "f0.5"}
"""Aims without a metric of their own: ``--aim`` takes them."""
OF_COUNTS = {"cost_10_to_1"}
"""Metrics whose aim depends on the class counts alone, and has no name."""


def test_metrics_of_labels_are_aims_and_aims_are_metrics():
    judged = {name for name, metric in METRICS.items() if metric.make_aim is not None}
    assert judged - OF_COUNTS == set(AIMS) - set(ALIASES) - FOR_THE_SEARCH
    assert set(ALIASES.values()) <= judged
    for name in judged - OF_COUNTS:
        assert METRICS[name].make_aim(np.array([5, 3])) == AIMS[name]()
