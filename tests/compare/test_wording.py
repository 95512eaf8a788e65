"""The answer in words."""

from types import SimpleNamespace

import pytest

from immax.compare.verdict import Row
from immax.compare.wording import Finding, describe_finding, describe_limits
from immax.evaluation.statistics import PairedGain

PLAIN = Row("logistic", "logistic regression", {"f1": 0.5}, 0.01, 0.0, 0.0, 0.0, 1.0, 1.0)


def row(name, value, low, high, p):
    return Row(name, name, {"f1": value}, 0.01, value - 0.5, low, high, p, 1.0)


def words(rows, chosen, ties=(), ahead=0.0):
    rows = tuple(rows)
    chosen = next(one for one in rows if one.name == chosen)
    gain = PairedGain(ahead, 0.01, ahead - 0.02, ahead + 0.02, 0.3)
    return describe_finding(Finding("f1", "F1 score", rows, chosen, gain, ties))


def test_nothing_better_than_the_baseline():
    text = words([PLAIN, row("weights", 0.4, -0.2, 0.0, 0.2)], "logistic")
    assert text == (
        "Use plain logistic regression: no other method has a better F1 score (F1 score 0.5000)."
    )


def test_a_certain_gain_has_its_interval_and_its_p_value():
    text = words([row("xgb", 0.6, 0.06, 0.14, 0.0001), PLAIN], "xgb")
    assert text == (
        "Use XGBoost: its F1 score is 0.6000, better than the 0.5000 of plain logistic regression; "
        "the gain is +0.1000 (95 % interval +0.0600 to +0.1400; p < 0.001 after correction for 1 "
        "comparison)."
    )


@pytest.mark.parametrize(("value", "size"), [(0.6, "a large gain, but not"), (0.51, "a small")])
def test_a_gain_that_is_not_certain_is_said_as_such_and_what_would_decide(value, size):
    text = words(
        [row("xgb", value, -0.1, 0.3, 0.2), PLAIN], "logistic", ties=("logistic",), ahead=0.1
    )
    assert "no method is clearly better. XGBoost is ahead by +" in text
    assert size in text
    assert "p = 0.2 after correction" in text
    assert "--prefer best takes it" in text
    assert "To become more certain: " in text
    if value == 0.6:
        assert "about 4.0 times as many rows" in text


def test_the_best_of_ties_is_not_called_better():
    text = words([row("xgb", 0.6, -0.1, 0.3, 0.2), PLAIN], "xgb", ties=("logistic",))
    assert "0.6000, against the 0.5000 of plain" in text
    assert "The gain is not certain" in text
    assert "better than" not in text


def test_a_simpler_method_among_ties_names_the_best_one():
    rows = [row("xgb", 0.61, 0.06, 0.14, 0.01), row("weights", 0.6, 0.06, 0.14, 0.01), PLAIN]
    text = words(rows, "weights", ties=("weights",), ahead=0.01)
    assert text.startswith("Use class weights: its F1 score is 0.6000, better than the 0.5000")
    assert "XGBoost is ahead of it by +0.0100 (95 % interval -0.0100 to +0.0300)" in text


def test_sentences_begin_with_a_capital_letter():
    rows = [row("under", 0.61, 0.06, 0.14, 0.01), row("immax", 0.6, 0.06, 0.14, 0.01), PLAIN]
    assert ". Random under-sampling is ahead of it by" in words(rows, "immax", ties=("immax",))
    rows = [row("under", 0.6, -0.1, 0.3, 0.2), PLAIN]
    assert ": no method is clearly better. Random under-sampling is ahead by" in words(
        rows, "logistic", ties=("logistic",)
    )


def test_what_the_time_limit_cut_off_is_named_and_nothing_is_said_about_it():
    full = SimpleNamespace(splits=[1] * 5, planned_folds=5, unfinished={})
    assert describe_limits(full) == []
    cut = SimpleNamespace(splits=[1] * 3, planned_folds=5, unfinished={"immax_xgb": 1, "svm": 0})
    assert describe_limits(cut) == [
        "Only 3 of 5 folds were finished within the time limit; the figures are for these.",
        "IMMAX XGBoost and linear SVM were not finished in time: no conclusion is drawn about "
        "them.",
    ]
    more = SimpleNamespace(splits=[1] * 15, planned_folds=5, unfinished={}, repeats=3)
    assert describe_limits(more) == [
        "The rows were split 3 times, because the answer was open.",
    ]
    one = SimpleNamespace(splits=[1] * 5, planned_folds=5, unfinished={"svm": 0})
    text = "Linear SVM was not finished in time: no conclusion is drawn about it."
    assert describe_limits(one) == [text]
