"""What methods are ranked by."""

import numpy as np
import pytest

from immax.compare import Protocol
from immax.compare.judge import make_judge
from immax.decisions import Budget, Costs, FBeta, PrecisionAt, RecallAt, resolve_aim
from immax.errors import WrongCall

CLASSES = np.array(["fraud", "ok"])
COUNTS = np.array([2, 6])
Y = np.array([0, 0, 1, 1, 1, 1, 1, 1])
LABELS = np.array([0, 1, 0, 1, 1, 1, 1, 1])  # one miss, one false alarm


def value(protocol, labels=LABELS):
    return make_judge(protocol, CLASSES, COUNTS).measure(Y, labels, None, 2)


def test_a_metric_stands_for_its_aim():
    judge = make_judge(Protocol("f1"), CLASSES, COUNTS)
    assert judge.aim == FBeta()
    assert judge.measure(Y, LABELS, None, 2) == pytest.approx(0.5)
    assert make_judge(Protocol("accuracy"), CLASSES, COUNTS).aim is None
    assert make_judge(Protocol("average_precision"), CLASSES, COUNTS).aim is None


def test_costs_are_costs_and_lower_is_better():
    judge = make_judge(Protocol(aim=Costs({"ok": 1, "fraud": 10})), CLASSES, COUNTS)
    assert judge.measure(Y, LABELS, None, 2) == pytest.approx(11 / 8)
    assert (judge.title, judge.sign) == ("cost per row", -1)
    assert judge.score_labels(CLASSES[Y], CLASSES[LABELS]) == pytest.approx(-11 / 8)


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
    assert value(Protocol(aim=aim)) == pytest.approx(expected)


def test_aims_that_do_not_suit_the_classes_are_refused():
    with pytest.raises(WrongCall, match="for two classes, and the target has 3"):
        make_judge(Protocol(aim=FBeta()), np.arange(3), np.array([5, 5, 5]))
    with pytest.raises(WrongCall, match=r"unknown labels: \['theft'\]"):
        make_judge(Protocol(aim=Costs({"theft": 1, "ok": 1})), CLASSES, COUNTS)
