"""Which folds count, and what is said of methods that were not finished."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from immax.compare.finished_folds import run_folds


def _runner(comparison, missing=()):
    results = {
        name: {k: result for k, result in enumerate(own) if (name, k) not in missing}
        for name, own in comparison.fold_results.items()
    }
    return SimpleNamespace(results=results, failed={})


def test_all_results_are_gathered(comparison):
    empty = replace(comparison, fold_results={})
    asked = []

    def run(go_on):
        asked.append(go_on(8))

    found = run_folds(empty, _runner(comparison), run)
    assert found.complete == comparison.complete
    assert found.splits == comparison.splits
    assert dict(found.left_out) == dict(comparison.left_out)
    assert len(asked) == 1


def test_a_method_that_lacks_folds_is_named(comparison):
    empty = replace(comparison, fold_results={})
    found = run_folds(empty, _runner(comparison, {("svm", 7)}), lambda _: None)
    # Seven folds of all methods count for more than eight of two.
    assert found.complete == ["logistic", "weights", "immax", "svm"]
    assert len(found.splits) == 7
    lacking = {("svm", k) for k in range(1, 8)}
    found = run_folds(empty, _runner(comparison, lacking), lambda _: None)
    assert found.complete == ["logistic", "weights", "immax"]
    assert found.unfinished == {"svm": 1}
    assert found.left_out["svm"] == "not finished within the time limit: 1 of 8 folds"


def test_failures_are_named_and_two_folds_are_needed(comparison):
    empty = replace(comparison, fold_results={})
    runner = _runner(comparison)
    runner.failed["svm"] = "no luck"
    runner.results["svm"] = {}
    assert run_folds(empty, runner, lambda _: None).left_out["svm"] == "failed: no luck"
    runner = _runner(comparison, {("logistic", k) for k in range(1, 8)})
    with pytest.raises(TimeoutError, match="not even plain logistic regression"):
        run_folds(empty, runner, lambda _: None)
