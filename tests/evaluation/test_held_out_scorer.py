"""What held-out predictions are worth."""

import numpy as np
import pytest

from immax.decisions import Accuracy, Budget, Costs, FBeta, PrecisionAt, RecallAt, resolve_aim
from immax.errors import WrongCall
from immax.evaluation.held_out_scorer import score_by_aim, score_by_metric
from immax.evaluation.metrics import METRICS

CLASSES = np.array(["fraud", "ok"])
COUNTS = np.array([2, 6])
Y = np.array([0, 0, 1, 1, 1, 1, 1, 1])
LABELS = np.array([0, 1, 0, 1, 1, 1, 1, 1])  # one miss, one false alarm


def test_a_metric_stands_for_its_aim():
    scorer = score_by_metric(METRICS["f1"], COUNTS)
    assert scorer.aim == FBeta()
    assert scorer.measure(Y, LABELS, None, 2) == pytest.approx(0.5)
    assert score_by_metric(METRICS["accuracy"], COUNTS).aim == Accuracy()
    assert score_by_metric(METRICS["average_precision"], COUNTS).aim is None
    assert score_by_metric(METRICS["mcc"], COUNTS).selector == "matthews_corrcoef"


def test_the_rare_class_is_that_of_the_training_data():
    y = np.repeat([0, 1], 20)
    labels = np.r_[np.zeros(8, int), np.ones(12, int), np.zeros(5, int), np.ones(15, int)]
    scorer = score_by_metric(METRICS["f1"], np.array([99, 101]))
    by_aim = score_by_aim(FBeta(), CLASSES, np.array([99, 101]))
    assert scorer.measure(y, labels, None, 2) == by_aim.measure(y, labels, None, 2)


@pytest.mark.parametrize("name", [name for name in METRICS if not METRICS[name].needs_proba])
def test_labels_score_as_codes_do(name):
    metric, scorer = METRICS[name], score_by_metric(METRICS[name], COUNTS)
    expected = metric.score_labels(Y, LABELS)
    assert scorer.score_labels(CLASSES[Y], CLASSES[LABELS]) == pytest.approx(expected)


def test_costs_are_costs_and_lower_is_better():
    scorer = score_by_aim(Costs({"ok": 1, "fraud": 10}), CLASSES, COUNTS)
    assert scorer.measure(Y, LABELS, None, 2) == pytest.approx(11 / 8)
    assert (scorer.title, scorer.sign) == ("cost per row", -1)
    assert scorer.score_labels(CLASSES[Y], CLASSES[LABELS]) == pytest.approx(-11 / 8)


@pytest.mark.parametrize(
    ("aim", "expected"),
    [
        (RecallAt(0.5), 0.5),
        (RecallAt(0.75), 0.5 - 0.25),
        (PrecisionAt(0.25), 0.5),
        (PrecisionAt(0.9), 0.5 - 0.4),
        (Budget(share=0.3), 0.5),
        (Budget(share=0.05), 0.5 - 0.2),
        (Budget(count=2), 0.5),
        (resolve_aim("precision_macro"), (0.5 + 5 / 6) / 2),
    ],
)
def test_a_constraint_that_is_missed_counts_by_how_much(aim, expected):
    scorer = score_by_aim(aim, CLASSES, COUNTS)
    assert scorer.measure(Y, LABELS, None, 2) == pytest.approx(expected)


def test_aims_that_do_not_suit_the_classes_are_refused():
    with pytest.raises(WrongCall, match="for two classes, and the target has 3"):
        score_by_aim(FBeta(), np.arange(3), np.array([5, 5, 5]))
    with pytest.raises(WrongCall, match=r"unknown labels: \['theft'\]"):
        score_by_aim(Costs({"theft": 1, "ok": 1}), CLASSES, COUNTS)


def test_aims_that_abstain_are_refused():
    with pytest.raises(WrongCall, match="leave abstain out"):
        score_by_aim(Costs([1, 5], abstain=0.2), CLASSES, COUNTS)
