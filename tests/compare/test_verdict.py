"""Rankings, intervals and recommendations."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, answer, compare, refit
from immax.compare import verdict as verdict_module
from immax.compare.gains import GroupedValues
from immax.compare.verdict import is_open
from immax.decisions import rule_of
from immax.errors import WrongCall
from immax.evaluation.metrics import METRICS


def test_gains_are_means_over_folds_and_intervals_those_of_paired_gains(comparison):
    verdict = answer(comparison)
    values = GroupedValues(comparison)
    own = {
        name: [
            np.mean(result.labels == comparison.codes[split.test])
            for result, split in zip(comparison.fold_results[name], comparison.splits, strict=True)
        ]
        for name in comparison.complete
    }
    for row in verdict.rows:
        assert row.measures["accuracy"] == pytest.approx(np.mean(own[row.name]))
        assert row.value_low <= row.measures["accuracy"] <= row.value_high
        if row.name == "logistic":
            assert (row.gain, row.low, row.high, row.p) == (0, 0, 0, 1)
            continue
        assert row.gain == pytest.approx(np.mean(np.subtract(own[row.name], own["logistic"])))
        gain = values.gain(row.name, "logistic")
        assert (row.low, row.high) == (gain.low, gain.high)
        assert row.p >= gain.p
    shown = [row.measures["accuracy"] for row in verdict.rows]
    assert shown == sorted(shown, reverse=True)


@pytest.fixture(scope="module")
def rings():
    """Rare rows around the others: no line tells them apart."""
    rng = np.random.default_rng(0)
    rare = np.arange(300) % 6 == 0
    angle, radius = rng.uniform(0, 6.3, 300), np.where(rare, 2.5, 1.0) * rng.uniform(0.8, 1.2, 300)
    X = pd.DataFrame({"a": radius * np.cos(angle), "b": radius * np.sin(angle)})
    y = pd.Series(np.where(rare, "rare", "common"))
    protocol = Protocol("balanced_accuracy", folds=3)
    return compare(X, y, methods=["immax_svc", "xgb"], protocol=protocol)


def test_a_clear_gain_is_recommended(rings):
    verdict = answer(rings)
    best = verdict.row(verdict.rows[0].name)
    assert best.p < 0.001
    assert "better than" in verdict.sentence
    assert "logistic" not in verdict.ties


def test_an_answer_is_open_if_the_best_method_is_ahead_without_certainty(rings, monkeypatch):
    assert not is_open(rings)  # certain
    found = answer(rings)
    for p, expected in ((0.04, False), (0.06, True), (0.4, True), (0.6, False)):
        other = replace(found, rows=(replace(found.rows[0], p=p), *found.rows[1:]))
        monkeypatch.setattr(verdict_module, "answer", lambda _, other=other: other)
        assert is_open(rings) is expected
    plain = replace(found, rows=(found.row("logistic"),))
    monkeypatch.setattr(verdict_module, "answer", lambda _: plain)
    assert not is_open(rings)


def test_looking_again_is_paid_for(rings):
    """The same folds, as if those of the second repeat had followed because of an open answer."""
    rng = np.random.default_rng(0)
    flip = rng.random((6, 100)) < 0.3
    results = {
        name: tuple(
            replace(result, labels=np.where(flip[k], 1 - result.labels, result.labels))
            for k, result in enumerate((*own, *own))
        )
        for name, own in rings.fold_results.items()
    }
    splits = (*rings.splits, *rings.splits)
    planned = replace(rings, splits=splits, fold_results=results)
    planned = replace(planned, protocol=replace(rings.protocol, repeats=2))
    opened = replace(planned, protocol=replace(rings.protocol, max_repeats=2))
    for row in answer(planned).rows:
        if row.name != "logistic":
            assert answer(opened).row(row.name).p == pytest.approx(min(1, 2 * row.p))


def test_ties_go_to_the_simplest_or_to_the_best(rings):
    simplest, best = answer(rings), answer(rings, "best")
    assert best.recommended == best.rows[0].name
    tied = {best.rows[0].name, *best.ties}
    assert simplest.recommended == ("immax_svc" if "immax_svc" in tied else best.rows[0].name)
    with pytest.raises(WrongCall, match="simplest, best"):
        answer(rings, "cheapest")


def test_an_unclear_gain_is_not_recommended(rings):
    X, y = mixed_table(120)
    unclear = answer(compare(X, y, methods=["ce"], protocol=Protocol(folds=3)))
    assert unclear.recommended == "logistic"
    assert re.search("no method is clearly better|no other method has a better", unclear.sentence)


def test_the_rule_is_part_of_the_answer(rings):
    verdict = answer(rings)
    rule = rule_of(refit(rings, verdict.recommended)[-1])
    told = verdict.with_rule(rule)
    assert told.rule.startswith("predict rare when its probability is at least 0.167")
    assert told.sentence.endswith(f" The rule of the recommended model: {told.rule}.")
    assert verdict.with_rule(None) is verdict


def test_a_lower_log_loss_is_better():
    X, y = mixed_table()
    verdict = answer(compare(X, y, methods=["weights"], protocol=Protocol(metric="log_loss")))
    assert [row.name for row in verdict.rows] == ["logistic", "weights"]
    assert verdict.row("weights").gain < 0


@pytest.mark.parametrize("metric", METRICS)
def test_methods_are_ranked_by_every_metric(metric):
    X, y = mixed_table(120)
    verdict = answer(
        compare(X, y, methods=["weights", "svm"], protocol=Protocol(metric=metric, folds=2))
    )
    sign = METRICS[metric].sign
    values = [sign * row.measures[metric] for row in verdict.rows]
    assert values == sorted(values, reverse=True)


def test_the_answer_as_a_dictionary(comparison):
    verdict = answer(comparison)
    content = verdict.to_dict()
    assert content["rows"][0]["measures"] == verdict.rows[0].measures
    assert {key: content[key] for key in ("metric", "recommended", "sentence")} == {
        "metric": verdict.metric,
        "recommended": verdict.recommended,
        "sentence": verdict.sentence,
    }


def test_equal_methods_are_ranked_by_their_simplicity_and_not_by_their_times(comparison):
    results = dict(comparison.fold_results)
    for seconds in (0.1, 100.0):
        own = [replace(result, seconds=seconds) for result in results["logistic"]]
        same = {"weights": tuple(own), "logistic": results["logistic"]}
        rows = answer(replace(comparison, fold_results=same)).rows
        assert [row.name for row in rows] == ["logistic", "weights"]
