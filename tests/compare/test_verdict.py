"""Rankings, intervals and recommendations."""

import re

import numpy as np
import pandas as pd
import pytest
from mixed_table import mixed_table
from scipy import stats

from immax.compare import Protocol, answer, compare
from immax.evaluation.metrics import METRICS


def test_gains_and_intervals_are_those_of_a_plain_computation(comparison):
    verdict = answer(comparison)
    own = {
        name: [
            np.mean(result.labels == comparison.codes[split.test])
            for result, split in zip(comparison.fold_results[name], comparison.splits, strict=True)
        ]
        for name in comparison.complete
    }
    for row in verdict.rows:
        assert row.measures["accuracy"] == pytest.approx(np.mean(own[row.name]))
        if row.name == "logistic":
            assert (row.gain, row.low, row.high, row.p) == (0, 0, 0, 1)
            continue
        gains = np.subtract(own[row.name], own["logistic"])
        n = len(gains)
        error = np.sqrt(gains.var(ddof=1) * (1 / n + (1 / 4) / (3 / 4)))
        half = stats.t.ppf(0.975, n - 1) * error
        assert (row.gain, row.low, row.high) == pytest.approx(
            (gains.mean(), gains.mean() - half, gains.mean() + half)
        )
    values = [row.measures["accuracy"] for row in verdict.rows]
    assert values == sorted(values, reverse=True)


def test_a_clear_gain_is_recommended_and_an_unclear_one_is_not():
    rng = np.random.default_rng(0)
    rare = np.arange(1000) % 12 == 0
    X = pd.DataFrame({"a": rng.normal(size=1000) + 1.5 * rare, "b": rng.normal(size=1000)})
    y = pd.Series(np.where(rare, "rare", "common"))
    clear = answer(
        compare(X, y, methods=["weights"], protocol=Protocol(metric="balanced_accuracy"))
    )
    assert clear.recommended == "weights"
    assert "better than plain logistic regression by +" in clear.sentence
    unclear = answer(compare(X, y, methods=["ce"], protocol=Protocol()))
    assert unclear.recommended == "logistic"
    assert re.search("no method is clearly better|no other method has a better", unclear.sentence)


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
