"""All methods on all folds: by one process and by several, with progress."""

import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, compare, fold_queue
from immax.compare.fold_cache import FoldResult
from immax.compare.fold_fits import FoldFitter
from immax.compare.worker_process import WorkerLostError


class Here:
    """Stands in for a process, within this one."""

    lose_after = 10**6

    def __init__(self, data):
        self._fitter, self._left = FoldFitter(data), self.lose_after

    def attempt(self, task, seconds=None):
        self._left -= 1
        if self._left < 0:
            raise WorkerLostError
        return self._fitter.attempt(task, None)

    def stop(self):
        pass


@pytest.fixture
def eager(monkeypatch):
    """Other processes are started after the first fit."""
    monkeypatch.setattr(fold_queue, "SECONDS_ALONE", 0.0)
    monkeypatch.setattr(fold_queue, "SECONDS_WORTH", 0.0)
    monkeypatch.setattr(fold_queue, "WorkerProcess", Here)
    monkeypatch.setattr(Here, "lose_after", 10**6)


def labels(comparison):
    return {
        name: [result.labels.tolist() for result in results]
        for name, results in comparison.fold_results.items()
    }


@pytest.mark.parametrize("lose_after", [10**6, 1])
def test_several_processes_give_the_same_results(eager, monkeypatch, lose_after):
    """Also if one of them is killed: what it had begun is fitted again."""
    monkeypatch.setattr(Here, "lose_after", lose_after)
    X, y = mixed_table(90)
    protocol = Protocol(folds=3)
    alone = compare(X, y, methods=["weights", "ce"], protocol=protocol)
    together = compare(X, y, methods=["weights", "ce"], protocol=protocol, n_jobs=3)
    assert labels(alone) == labels(together)


def test_progress_names_what_runs_and_how_long_it_will_take(eager):
    seen = []
    compare(
        *mixed_table(90), methods=["weights"], protocol=Protocol(folds=3), n_jobs=2,
        on_progress=seen.append,
    )  # fmt: skip
    assert seen[0].running == ("logistic",)
    assert seen[0].seconds_left is None
    assert seen[-1].done == seen[-1].total == 6
    assert seen[-1].running == ()
    assert seen[-1].seconds_left == 0
    assert any(one.seconds_left and one.seconds_left > 0 for one in seen)
    assert {name for one in seen for name in one.running} == {"logistic", "weights"}


def test_short_comparisons_start_no_other_process(monkeypatch):
    monkeypatch.setattr(fold_queue, "WorkerProcess", None)
    comparison = compare(*mixed_table(60), methods=[], protocol=Protocol(folds=2), n_jobs=2)
    assert isinstance(comparison.fold_results["logistic"][0], FoldResult)


def test_an_unexpected_error_of_a_method_ends_the_comparison(eager, monkeypatch):
    def fail(self, task, seconds=None):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Here, "attempt", fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        compare(*mixed_table(90), methods=["weights"], protocol=Protocol(folds=3), n_jobs=2)
