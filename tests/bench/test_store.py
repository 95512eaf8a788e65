"""Stores that several processes write."""

import multiprocessing
import os
import sqlite3
import time

import numpy as np
import pytest

from immax.bench.outcomes import CellResult, HeldOutResult
from immax.bench.plan_file import parse_plan
from immax.bench.store import Store, StoreError


def make_plan(**changes):
    return parse_plan(
        {
            "name": "small",
            "title": "A small one",
            "models": ["mlp"],
            "methods": ["ce", "la"],
            "runs": 3,
            "data": {"names": ["made_up_images"]},
            "selection": {"folds": 3, "trials": 2},
            **changes,
        }
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.db"


def done(store, cell, value=0.5):
    test = HeldOutResult({"accuracy": value}, np.array([0, 1]), np.array([0, 0]))
    store.finish(cell, CellResult({}, {"imbalanced": test}), 1.0, 10.0, {"python": "3"})


def test_a_final_cell_waits_for_its_own_trials(path):
    store = Store(path, make_plan())
    order = []
    while (cell := store.claim()) is not None:
        order.append(cell)
        done(store, cell)
    assert len(order) == 2 * 3 + 2 * 3
    trials = [i for i, cell in enumerate(order) if cell.stage == "trial"]
    finals = [i for i, cell in enumerate(order) if cell.method == "la"]
    assert max(trials) < max(finals)
    assert store.counts() == {"waiting": 0, "running": 0, "done": 12, "failed": 0}


def test_a_failed_trial_holds_back_what_waits_for_it_only(path):
    store = Store(path, make_plan())
    seen = []
    while (cell := store.claim()) is not None:
        seen.append(cell)
        if cell.stage == "trial":
            store.fail(cell, "Traceback: no")
        else:
            done(store, cell)
    assert {cell.method for cell in seen if cell.stage == "final"} == {"ce"}
    assert store.records(["failed"])[0].error == "Traceback: no"
    assert store.claim() is None
    store.retry_failed()
    again = store.claim()
    assert again is not None
    assert again.stage == "trial"


def test_results_come_back_as_they_went(path):
    store = Store(path, make_plan())
    cell = store.claim()
    store.add_epoch(cell, 1, {"loss": 2.0})
    store.add_epoch(cell, 2, {"loss": 1.0})
    done(store, cell, 0.25)
    record = Store(path).records()[0]
    assert record.cell == cell
    test = record.result.tests["imbalanced"]
    assert test.metrics["accuracy"] == 0.25
    assert (test.predicted.tolist(), test.truth.tolist()) == ([0, 1], [0, 0])
    assert (record.seconds, record.memory, record.environment) == (1.0, 10.0, {"python": "3"})
    assert store.curve(cell) == [(1, {"loss": 2.0}), (2, {"loss": 1.0})]


def _claim_all(path, own):
    store = Store(path)
    found = []
    while (cell := store.claim()) is not None:
        found.append(cell.id)
        time.sleep(0.002)
        done(store, cell)
    own.put(found)


def test_processes_never_do_a_cell_twice(path):
    Store(path, make_plan(runs=40, methods=["ce"]))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=_claim_all, args=(path, queue)) for _ in range(2)]
    for worker in workers:
        worker.start()
    found = [identity for _ in workers for identity in queue.get(timeout=60)]
    for worker in workers:
        worker.join()
    assert len(found) == len(set(found)) == 40


def _claim_and_die(path):
    Store(path).claim()
    os._exit(9)


def test_the_cell_of_a_dead_worker_is_claimed_again(path):
    store = Store(path, make_plan(runs=1, methods=["ce"]))
    worker = multiprocessing.get_context("spawn").Process(target=_claim_and_die, args=(path,))
    worker.start()
    worker.join()
    assert store.counts()["running"] == 1
    cell = store.claim()
    assert cell is not None
    assert store.claim() is None  # its worker, this process, is alive


def test_a_silent_worker_elsewhere_counts_as_dead(path):
    store = Store(path, make_plan(runs=1, methods=["ce"]))
    cell = store.claim()
    with sqlite3.connect(path) as db:
        db.execute("update cells set worker = 'elsewhere:1'")
    assert store.claim() is None
    with sqlite3.connect(path) as db:
        db.execute("update cells set seen = seen - 3600")
    assert store.claim() == cell


def test_another_plan_or_version_is_refused_and_nothing_is_lost(path):
    store = Store(path, make_plan())
    done(store, store.claim())
    with pytest.raises(StoreError, match="holds the results of the plan 'small'"):
        Store(path, make_plan(name="other"))
    changed = make_plan(runs=4)
    with pytest.raises(StoreError, match="another version of the plan 'small'"):
        Store(path, changed)
    claimed = store.claim()
    with sqlite3.connect(path) as db:  # its worker has died since
        db.execute("update cells set seen = seen - 3600, worker = 'elsewhere:1'")
        db.execute("update cells set id = 'old' where id = ?", (claimed.id,))
    adopted = Store(path, changed, adopt=True)
    assert adopted.counts()["done"] == 1
    assert sum(adopted.counts().values()) == len(changed.cells())
    with sqlite3.connect(path) as db:
        db.execute("update meta set value = '99' where key = 'format'")
    with pytest.raises(StoreError, match="has format 99"):
        Store(path)


def test_results_of_a_method_can_be_discarded(path):
    store = Store(path, make_plan())
    while (cell := store.claim()) is not None:
        done(store, cell)
    assert store.discard(["la"]) == 2 * 3 + 3  # trials and final cells
    assert store.counts()["waiting"] == 9
    assert {record.cell.method for record in store.records()} == {"ce"}


def test_results_are_taken_where_cells_wait(path, tmp_path):
    store = Store(path, make_plan())
    while (cell := store.claim()) is not None:
        done(store, cell, 0.75)
    store.stamp("abc", "2026-01-01")
    other = Store(tmp_path / "other.db", make_plan(methods=["ce", "la", "rw"]))
    first = other.claim()
    done(other, first, 0.25)
    assert other.take(store.results(), without=["ce"]) == 8  # one is done here
    assert other.take(store.results(), without=["ce"]) == 0
    values = [one.result.tests["imbalanced"].metrics["accuracy"] for one in other.records()]
    assert sorted(values) == [0.25] + 8 * [0.75]
    assert {record.cell.method for record in other.records(["waiting"])} == {"ce", "rw"}
    assert (other.results().commit, other.results().date) == ("abc", "2026-01-01")


def test_seconds_are_kept_to_milliseconds(path):
    store = Store(path, make_plan())
    cell = store.claim()
    store.finish(cell, CellResult(), 1.23456, 10.26, {})
    assert (store.records()[0].seconds, store.records()[0].memory) == (1.235, 10.3)
