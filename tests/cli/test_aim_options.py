"""What decisions are for, from options."""

import numpy as np
import pytest

from immax.cli.aim_options import AimOptions
from immax.decisions import Budget, Costs, FBeta, PrecisionAt, RecallAt
from immax.errors import WrongCall

CLASSES = np.array(["fraud", "ok"])


@pytest.mark.parametrize(
    ("options", "metric", "aim"),
    [
        ({}, "accuracy", None),
        ({"metric": "log_loss"}, "log_loss", None),
        ({"aim": "mcc"}, "mcc", None),
        ({"metric": "kappa"}, "kappa", None),
        ({"metric": "jaccard"}, "jaccard", None),
        ({"aim": "f2"}, "accuracy", FBeta(2.0)),
        ({"aim": "recall at precision 0.9"}, "accuracy", RecallAt(0.9)),
        ({"aim": "precision_at_recall=0.8"}, "accuracy", PrecisionAt(0.8)),
        ({"costs": "ok=1, fraud=10"}, "accuracy", Costs({"fraud": 10.0, "ok": 1.0})),
        ({"budget": "1%"}, "accuracy", Budget(share=0.01)),
        ({"budget": "100"}, "accuracy", Budget(count=100)),
    ],
)
def test_options_are_metrics_or_aims(options, metric, aim):
    purpose = AimOptions(**options).resolve(CLASSES)
    assert (purpose.metric, purpose.aim) == (metric, aim)
    assert purpose.name == (metric if aim is None else aim.name)


def test_numbers_as_labels():
    aim = AimOptions(costs="0=1,1=10").resolve(np.array([0, 1])).aim
    assert aim == Costs({0: 1.0, 1: 10.0})


def test_a_matrix_may_have_its_classes_in_any_order(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,ok,fraud\nok,0,1\n\nfraud,20,0.5\n")
    aim = AimOptions(cost_matrix=path).resolve(CLASSES).aim
    assert aim == Costs([[0.5, 20.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f1", "budget": "1%"}, "--metric and --budget contradict each other"),
        ({"metric": "acuracy"}, "did you mean 'accuracy'"),
        ({"aim": "f1_macr"}, "did you mean 'f1_macro'"),
        ({"aim": "recall at precision 1.5"}, "strictly between 0 and 1"),
        ({"aim": "roc_auc"}, "looks at scores or probabilities"),
        ({"costs": "fraud"}, "must be like fraud=10,ok=1; got 'fraud'"),
        ({"costs": "fraud=ten,ok=1"}, "must be like fraud=10,ok=1"),
        ({"costs": "fraud=10"}, "missing: 'ok'"),
        ({"costs": "fraud=10,ok=1,fraud=2"}, "names 'fraud' more than once"),
        ({"costs": "theft=10,ok=1"}, "unknown: 'theft'; missing: 'fraud'"),
        ({"costs": "fraud=-10,ok=1"}, "not negative"),
        ({"costs": "fraud=0,ok=0"}, "all zero"),
        ({"budget": "0%"}, "strictly between 0 and 1"),
        ({"budget": "0"}, "positive whole number"),
        ({"budget": "0.01"}, "is 1% meant"),
        ({"budget": "some"}, "a share such as 1% or a number of rows; got 'some'"),
    ],
)
def test_what_cannot_be_understood_is_refused(options, message):
    with pytest.raises(WrongCall, match=message):
        AimOptions(**options).resolve(CLASSES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no costs"),
        ("true,fraud,ok\nfraud,0\nok,1,0\n", "the line of 'fraud' must have 2 numbers"),
        ("true,fraud,ok\nfraud,0,x\nok,1,0\n", "the line of 'fraud' must have 2 numbers"),
        ("true,fraud,ok\nfraud,0,1\n", "missing: 'ok'"),
        ("true,fraud,ok\nfraud,0,1\nok,1,0\nok,2,0\n", "several rows for 'ok'"),
        ("true,fraud,fraud\nfraud,0,1\nok,1,0\n", "several columns for 'fraud'"),
        ("true,fraud,good\nfraud,0,1\nok,1,0\n", "unknown: 'good'"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(tmp_path, text, message):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(WrongCall, match=message):
        AimOptions(cost_matrix=path).resolve(CLASSES)
