"""Methods on the folds of a streamed table: what is cached, abandoned and reported."""

import numpy as np
import pytest
from mixed_table import mixed_table

from immax.compare import Protocol
from immax.compare.fold_cache import FoldCache
from immax.compare.protocol import FittedCandidate
from immax.compare.streamed_folds import StreamedFolds, _as_result, hashed_splits
from immax.compare.training_rows import HeldOutPredictions, TrainingRows
from immax.decisions import Budget, DecidedModel, fit_rule
from immax.tabular.streamed_table import open_streamed

PROTOCOL = Protocol(folds=2, max_repeats=2, search_rows=500)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("streamed") / "table.parquet"
    X, y = mixed_table(400)
    X.assign(y=y).to_parquet(path)
    return open_streamed(path, "y")


def _runner(table, cache, **options):
    found = table.fit_fold_pipelines(PROTOCOL.folds, PROTOCOL.seed)
    return StreamedFolds(table, found, ["logistic", "weights"], PROTOCOL, cache, **options)


def test_folds_hold_every_row_out_once_in_each_repeat():
    splits = hashed_splits(1000, PROTOCOL)
    assert len(splits) == 4
    for repeat in (splits[:2], splits[2:]):
        tested = np.concatenate([split.test for split in repeat])
        assert sorted(tested.tolist()) == list(range(1000))
    assert splits[0].test.tolist() != splits[2].test.tolist()


def test_finished_folds_are_kept_and_repeats_follow(table, tmp_path):
    seen = []
    runner = _runner(table, FoldCache(tmp_path, "here"), on_progress=seen.append)
    runner.run(lambda n_folds: n_folds == 2)
    assert {name: sorted(own) for name, own in runner.results.items()} == {
        "logistic": [0, 1, 2, 3],
        "weights": [0, 1, 2, 3],
    }
    assert (seen[-1].done, seen[-1].total) == (8, 8)
    assert any("pass 3, 0 MiB read" in progress.reading for progress in seen)
    assert {name for progress in seen for name in progress.running} == {"logistic", "weights"}
    tests = hashed_splits(400, PROTOCOL)
    for fold, result in runner.results["weights"].items():
        assert len(result.labels) == len(tests[fold].test) == len(result.proba)
    seen.clear()
    again = _runner(table, FoldCache(tmp_path, "here"), on_progress=seen.append)
    again.run()
    assert not seen  # nothing was read
    assert sorted(again.results["logistic"]) == [0, 1]


def test_no_fold_begins_when_the_time_is_over(table):
    runner = _runner(table, FoldCache(None, ""), time_limit=1e-9)
    runner.run()
    assert runner.results == {"logistic": {}, "weights": {}}


def test_the_only_method_that_is_left_may_fail(table, tmp_path, monkeypatch):
    cache = FoldCache(tmp_path, "here")
    found = table.fit_fold_pipelines(PROTOCOL.folds, PROTOCOL.seed)
    StreamedFolds(table, found, ["logistic"], PROTOCOL, cache).run()

    def fail(*_):
        raise ValueError("no such weights\nwithin these lines")

    monkeypatch.setattr(TrainingRows, "choose", fail)
    runner = _runner(table, cache)
    runner.run()
    assert runner.failed == {"weights": "no such weights"}
    assert sorted(runner.results["logistic"]) == [0, 1]
    assert runner.results["weights"] == {}


def test_a_budget_is_that_of_all_rows_that_are_held_out():
    p = np.linspace(0, 0.9, 40)
    proba = np.c_[1 - p, p].astype(np.float32)
    rule = fit_rule(proba, np.arange(40) // 35, Budget(count=4))
    parts = [rule.decide(half) for half in (proba[:20], proba[20:])]
    found = HeldOutPredictions(parts, [proba[:20], proba[20:]], [])
    result = _as_result(found, 0.0, FittedCandidate(DecidedModel(None, rule), {}))
    assert result.labels.nonzero()[0].tolist() == [36, 37, 38, 39]
