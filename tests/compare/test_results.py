"""The results of a comparison as data."""

import dataclasses

import numpy as np
import pytest

from immax.evaluation.metrics import METRICS, measure


def test_every_method_has_a_result_for_every_fold(comparison):
    assert comparison.complete == ["logistic", "weights", "immax", "svm"]
    sizes = [len(split.test) for split in comparison.splits]
    for name in comparison.complete:
        assert [len(result.labels) for result in comparison.fold_results[name]] == sizes


def test_counts_and_names_of_classes(comparison):
    assert comparison.class_names == ["no", "yes"]
    assert comparison.counts.tolist() == [
        int((comparison.codes == 0).sum()),
        int((comparison.codes == 1).sum()),
    ]


def test_scores_are_those_of_each_fold(comparison):
    scores = comparison.scores("immax")
    assert len(scores) == 8
    for own, result, split in zip(
        scores, comparison.fold_results["immax"], comparison.splits, strict=True
    ):
        assert own == measure(comparison.codes[split.test], result.labels, result.proba, 2)
    assert comparison.scores("immax") is scores  # computed once
    assert set(comparison.scores("svm")[0]) == {
        name for name, metric in METRICS.items() if not metric.needs_proba
    }


def test_pooled_predictions_follow_the_folds(comparison):
    y, labels, proba = comparison.pooled("weights")
    assert len(y) == len(labels) == len(proba) == 480
    first = comparison.splits[0].test
    np.testing.assert_array_equal(y[: len(first)], comparison.codes[first])
    assert comparison.pooled("svm").proba is None


def test_a_comparison_is_frozen(comparison):
    with pytest.raises(dataclasses.FrozenInstanceError):
        comparison.left_out = {}
    with pytest.raises(TypeError):
        comparison.fold_results["ce"] = ()


def test_the_old_name_of_the_results_is_deprecated(comparison):
    with pytest.warns(FutureWarning, match="fold_results"):
        assert comparison.pieces is comparison.fold_results
