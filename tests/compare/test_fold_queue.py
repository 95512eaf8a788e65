"""All methods on all folds: by one process and by several, with progress."""

from dataclasses import replace

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

    def wait_until_ready(self):
        pass

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


def test_many_fits_are_shared_from_the_start_and_stored_ones_need_no_process(
    eager, monkeypatch, tmp_path
):
    started = []
    monkeypatch.setattr(fold_queue, "SECONDS_ALONE", 10**6)
    monkeypatch.setattr(fold_queue._Workers, "start", lambda self, count: started.append(count))
    X, y = mixed_table(90)
    for many, expected in ((7, []), (6, [1]), (1, [1])):  # the last comparison is stored
        monkeypatch.setattr(fold_queue, "MANY_FITS", many)
        folder = tmp_path if many < 7 else None
        compare(X, y, methods=["ce"], protocol=Protocol(folds=3), n_jobs=2, keep=folder)
        assert started == expected


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


def test_a_process_that_was_started_ahead_takes_part_in_few_fits(eager, monkeypatch):
    started = []
    monkeypatch.setattr(fold_queue, "SECONDS_ALONE", 10**6)
    monkeypatch.setattr(fold_queue, "is_worker_waiting", lambda: True)
    monkeypatch.setattr(fold_queue._Workers, "start", lambda self, count: started.append(count))
    compare(*mixed_table(60), methods=[], protocol=Protocol(folds=2), n_jobs=2)
    assert started == [1]


def test_the_longest_fits_of_a_fold_come_first_once_times_are_known(monkeypatch):
    seconds = {"logistic": 1.0, "weights": 2.0, "ce": 3.0}
    order = []

    def attempt(self, task, limit=None):
        order.append((task.fold, task.method))
        result = fit(self, task, limit)
        return replace(result, seconds=seconds[task.method])

    fit = FoldFitter.attempt
    monkeypatch.setattr(FoldFitter, "attempt", attempt)
    compare(*mixed_table(60), methods=["weights", "ce"], protocol=Protocol(folds=2))
    assert [name for _, name in order] == ["logistic", "weights", "ce", "ce", "weights", "logistic"]
    assert [fold for fold, _ in order] == [0, 0, 0, 1, 1, 1]
