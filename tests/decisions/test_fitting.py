"""Rules fitted to probabilities: exact for two classes, shrunk, and clear about bad input."""

import numpy as np
import pytest
from sklearn import metrics

from immax.decisions import MCC, Budget, Costs, FBeta, PrecisionAt, RecallAt
from immax.decisions.aims import AIMS, Aim
from immax.decisions.confusion import confusion_matrix
from immax.decisions.fitting import best_threshold, fit_rule, resolve_aim, threshold_curve, value_of
from immax.decisions.rules import Rule, threshold_gains


def sample(n=400, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < share).astype(int)
    x = rng.normal(size=n) + 1.5 * y
    p = 1 / (1 + (1 - share) / share * np.exp(1.125 - 1.5 * x))
    return np.c_[1 - p, p], y


@pytest.mark.parametrize("name", ["f1", "f2", "mcc", "gmean", "jaccard", "kappa"])
def test_no_threshold_is_better_on_the_observed_labels(name):
    proba, y = sample()
    aim = resolve_aim(name)
    rule = fit_rule(proba, y, aim, evidence=1)
    own = value_of(aim, y, rule.decide(proba), 2, None, 1)
    grid = np.r_[0, np.unique(proba[:, 1]), 1]
    tried = [value_of(aim, y, (proba[:, 1] > t).astype(int), 2, None, 1) for t in grid]
    assert own == pytest.approx(max(tried))


def test_the_sweep_is_a_plain_loop():
    proba, y = sample(60)
    soft = np.eye(2)[y]
    thresholds, values = threshold_curve(proba[:, 1], soft, FBeta(), 1)
    assert (np.diff(thresholds) < 0).all()
    for threshold, value in zip(thresholds, values, strict=True):
        labels = proba[:, 1] >= threshold
        assert value == pytest.approx(metrics.f1_score(y, labels, zero_division=0))
    assert best_threshold(proba[:, 1], soft, FBeta(), 1)[1] == pytest.approx(values.max())


def test_closed_forms_are_not_tuned():
    proba, y = sample()
    share = y.mean()
    assert fit_rule(proba, y, "accuracy").threshold == pytest.approx(0.5)
    assert fit_rule(proba, y, "balanced_accuracy").threshold == pytest.approx(share)
    assert fit_rule(proba, y, Costs([1, 9])).threshold == pytest.approx(0.1)
    assert fit_rule(proba[:, ::-1], 1 - y, Costs([9, 1])).threshold == pytest.approx(0.1)


def test_expected_counts_need_no_labels_beyond_the_shares():
    proba, y = sample(20_000)
    rng = np.random.default_rng(1)
    drawn = (rng.uniform(size=len(y)) < proba[:, 1]).astype(int)
    observed = fit_rule(proba, drawn, "f1", evidence=1).threshold
    expected = fit_rule(proba, y, "f1", evidence=0).threshold
    assert observed == pytest.approx(expected, abs=0.05)


def test_shrinkage_steadies_the_threshold():
    thresholds = {evidence: [] for evidence in (0.5, 1.0)}
    for seed in range(40):
        proba, y = sample(150, 0.1, seed)
        if y.sum() > 0:
            for evidence, own in thresholds.items():
                own.append(fit_rule(proba, y, "f1", evidence=evidence).threshold)
    assert np.std(thresholds[0.5]) < 0.8 * np.std(thresholds[1.0])


def test_constraints():
    proba, y = sample(2000)
    labels = fit_rule(proba, y, RecallAt(precision=0.6), evidence=1).decide(proba)
    assert metrics.precision_score(y, labels) >= 0.6
    labels = fit_rule(proba, y, PrecisionAt(recall=0.8), evidence=1).decide(proba)
    assert metrics.recall_score(y, labels) >= 0.8
    labels = fit_rule(proba, y, Budget(share=0.05)).decide(proba)
    assert labels.mean() == pytest.approx(0.05, abs=1e-3)
    assert fit_rule(proba, y, Budget(count=7)).decide(proba).sum() == 7


def test_a_constraint_that_cannot_be_met_is_said_with_the_best_there_is():
    rng = np.random.default_rng(0)
    y = (np.arange(500) % 10 == 0).astype(int)
    p = rng.uniform(0.05, 0.15, 500)
    with pytest.warns(UserWarning, match="no threshold has the recall at precision 0.99"):
        fit_rule(np.c_[1 - p, p], y, RecallAt(precision=0.99), evidence=0)


def test_a_shortfall_is_that_of_the_constraint():
    p = np.full(200, 0.1)
    y = (np.arange(200) < 20).astype(int)
    with pytest.warns(UserWarning, match=r"0\.05, is 0\.4 short of it"):
        fit_rule(np.c_[1 - p, p], y, RecallAt(precision=0.5))


def test_constraints_are_met_on_the_labels_whatever_the_probabilities_expect():
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 4, 2000)
    y = (rng.random(2000) < p).astype(int)
    q = p**0.35  # too high
    proba = np.c_[1 - q, q]
    assert metrics.precision_score(y, fit_rule(proba, y, RecallAt(0.6)).decide(proba)) >= 0.6
    too_low = np.c_[1 - p**3, p**3]
    assert metrics.recall_score(y, fit_rule(too_low, y, PrecisionAt(0.8)).decide(too_low)) >= 0.8


def test_a_budget_holds_where_probabilities_tie():
    p = np.r_[np.ones(50), np.linspace(0, 0.5, 950)]
    y = (np.arange(1000) < 60).astype(int)
    for columns in ((1 - p, p), (p, 1 - p)):
        proba, labels = np.column_stack(columns), y if columns[1] is p else 1 - y
        with pytest.warns(UserWarning, match="no threshold has the budget of 1 % and flags"):
            rule = fit_rule(proba, labels, Budget(share=0.01))
        assert (rule.predict(proba) == labels[-1]).all()
        rule = fit_rule(proba, labels, Budget(share=0.06))
        assert (rule.predict(proba) != labels[-1]).mean() == 0.06


def test_a_budget_is_used_up():
    """Also where the last of the flagged samples are no positives."""
    p = np.linspace(0, 0.9, 100)
    y = np.zeros(100, int)
    y[[90, 98]] = 1
    assert fit_rule(np.c_[1 - p, p], y, Budget(share=0.05)).decide(np.c_[1 - p, p]).sum() == 5


def test_always_and_never_at_certain_probabilities():
    p = np.r_[0.0, 0.0, 0.5, 1.0, 1.0]
    for positive in (0, 1):
        thresholds, _ = threshold_curve(p, np.ones((5, 2)), FBeta(), positive)
        proba = np.c_[1 - p, p] if positive else np.c_[p, 1 - p]
        flagged = [
            int(
                (
                    Rule(np.arange(2), threshold_gains(t, positive), [1, 1]).decide(proba)
                    == positive
                ).sum()
            )
            for t in thresholds
        ]
        assert flagged == [0, 2, 3, 5]


def test_weights_by_position():
    proba, y = sample(100)
    weight = np.linspace(1, 3, 100)
    assert fit_rule(proba, y, "f1", weight) == fit_rule(proba, y, "f1", sample_weight=weight)


def test_many_classes_search_is_better_than_the_plain_rule_and_near_the_best():
    rng = np.random.default_rng(0)
    prior = np.array([0.8, 0.15, 0.05])
    y = rng.choice(3, 3000, p=prior)
    centres = np.array([[0, 0], [1.5, 0], [0, 1.5]])
    X = rng.normal(size=(3000, 2)) + centres[y]
    log_joint = -0.5 * ((X[:, None] - centres) ** 2).sum(axis=2) + np.log(prior)
    proba = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    aim = FBeta(average="macro")
    found = value_of(aim, y, fit_rule(proba, y, aim, evidence=1).decide(proba), 3, None, 0)
    grid = np.exp(np.linspace(-1, 4, 41))
    best = max(
        value_of(aim, y, np.argmax(proba * [1, a, b], axis=1), 3, None, 0)
        for a in grid
        for b in grid
    )
    plain = value_of(aim, y, proba.argmax(axis=1), 3, None, 0)
    assert found > plain + 0.03
    assert found > best - 0.003


def test_weights_count_as_repetitions():
    proba, y = sample(100)
    weight = np.random.default_rng(0).integers(1, 4, 100)
    repeated = fit_rule(np.repeat(proba, weight, axis=0), np.repeat(y, weight), "f1")
    assert fit_rule(proba, y, "f1", sample_weight=weight).threshold == pytest.approx(
        repeated.threshold
    )


def test_labels_of_any_kind_and_the_positive_class():
    proba, y = sample()
    names = np.array(["zebra", "apple"])[y]  # sorted order is the reverse
    rule = fit_rule(proba[:, ::-1], names, "f1")
    assert rule.classes.tolist() == ["apple", "zebra"]
    assert rule.classes[rule.positive] == "apple"
    assert rule.threshold == pytest.approx(fit_rule(proba, y, "f1").threshold)
    other = fit_rule(proba, y, "f1", pos_label=0)
    assert other.positive == 0


def test_any_scorer_of_labels_serves():
    proba, y = sample()
    own = fit_rule(proba, y, "f1", evidence=1)
    by_calls = fit_rule(proba, y, metrics.make_scorer(metrics.f1_score))
    scores = [metrics.f1_score(y, rule.decide(proba)) for rule in (own, by_calls)]
    assert scores[1] == pytest.approx(scores[0], abs=0.02)
    assert fit_rule(proba, y, "precision").aim == "precision"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"aim": "f11"}, "unknown aim 'f11'; did you mean 'f1'"),
        ({"aim": "roc_auc"}, "looks at scores or probabilities"),
        ({"y": [0, 1]}, "one label for each"),
        ({"y": np.zeros(400, int)}, "1 classes"),
        ({"y": np.zeros(400, int), "classes": [0, 1]}, "samples of every class"),
        ({"classes": [0, 2]}, "not among the classes"),
        ({"sample_weight": [1, 2]}, "sample_weight"),
        ({"evidence": 1.5}, "evidence"),
        ({"pos_label": "x"}, "pos_label"),
        ({"aim": "recall", "pos_label": 0}, "does not reach the scorer .recall."),
    ],
)
def test_bad_input(change, message):
    proba, y = sample()
    arguments = {"proba": proba, "y": y, "aim": "f1", **change}
    with pytest.raises(ValueError, match=message):
        fit_rule(**arguments)


def test_an_aim_for_two_classes_given_three():
    proba = np.full((9, 3), 1 / 3)
    with pytest.raises(ValueError, match="is for two classes; there are 3"):
        fit_rule(proba, np.arange(9) % 3, "f1")
    with pytest.raises(TypeError, match="a name, an Aim or a scorer"):
        resolve_aim(3)
    with pytest.raises(TypeError, match=r"an object, not a class: write MCC\(\.\.\.\)"):
        resolve_aim(MCC)


@pytest.mark.parametrize("name", sorted(set(AIMS) - {"f1", "f2", "f0.5", "jaccard"}))
def test_every_aim_of_many_classes_has_a_rule(name):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([4, 2, 1], 300)
    y = np.array([rng.choice(3, p=row) for row in proba])
    labels = fit_rule(proba, y, name).predict(proba)
    assert set(labels) <= {0, 1, 2}


@pytest.mark.parametrize(
    "aim", ["f1", "mcc", "balanced_accuracy", Budget(0.1), RecallAt(0.6), PrecisionAt(0.6)]
)
def test_samples_without_weight_are_not_there(aim):
    proba, y = sample(share=0.3)
    weight = np.random.default_rng(0).integers(0, 2, len(y))
    there = weight > 0
    assert fit_rule(proba, y, aim, weight) == fit_rule(proba[there], y[there], aim)


def test_aims_of_other_programs_are_served_by_calls():
    class Diagonal(Aim):
        name = "diagonal"

        def value(self, confusion, positive=1):
            return np.minimum.reduce(np.diagonal(confusion) / confusion.sum(axis=-1))

    rng = np.random.default_rng(0)
    proba = rng.dirichlet([6, 2, 1], 300)
    y = np.array([rng.choice(3, p=row) for row in proba])
    decided = fit_rule(proba, y, Diagonal(), evidence=1).decide(proba)
    plain = fit_rule(proba, y, "accuracy").decide(proba)
    table, before = (confusion_matrix(y, each, 3, 3) for each in (decided, plain))
    assert Diagonal().value(table) > Diagonal().value(before) + 0.1


def test_a_warning_of_many_classes_lists_some_of_their_shares():
    c = 40
    rng = np.random.default_rng(0)
    y = rng.choice(c, 4000, p=np.arange(1, c + 1) / (c * (c + 1) / 2))
    y[:c] = np.arange(c)
    proba = np.full((4000, c), 0.5 / c) + 0.5 * np.eye(c)[np.where(np.arange(4000) % 2, y, y[::-1])]
    with pytest.warns(UserWarning, match="refer to the class shares") as record:
        fit_rule(proba, y, "balanced_accuracy")
    assert len(str(record[0].message)) < 700
