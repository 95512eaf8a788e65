"""Cells on the workers of a cluster."""

import os
import signal
import sqlite3
import time
from threading import Thread

import pytest

from immax.bench.cluster import run_on_cluster
from immax.bench.plan_file import parse_plan
from immax.bench.run import run_cells
from immax.bench.store import Store

distributed = pytest.importorskip("distributed")
PLAN = parse_plan(
    {
        "name": "spread",
        "title": "Spread over a cluster",
        "runs": 2,
        "models": ["linear"],
        "methods": ["ce", "immax"],
        "data": {"names": ["made_up_images"], "share": 0.5},
        "imbalance": {"kind": "long_tailed", "ratios": [10]},
        "selection": {"folds": 2, "lams": [0.01], "powers": [0.0]},
    }
)


@pytest.fixture
def scheduler():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


def test_one_store_for_all_workers(tmp_path, scheduler):
    alone = Store(tmp_path / "alone.db", PLAN)
    run_cells(alone)
    spread = Store(tmp_path / "spread.db", PLAN)
    assert run_on_cluster(spread, scheduler, limit=1) == 0
    assert spread.counts()["done"] == 1
    assert run_on_cluster(spread, scheduler) == 0
    assert spread.counts() == alone.counts()
    expected = {record.cell.id: record.result.to_json() for record in alone.records()}
    assert {record.cell.id: record.result.to_json() for record in spread.records()} == expected
    alone.close()
    spread.close()


def running_process(path):
    """Wait for a cell that runs, and return the process that runs it."""
    with sqlite3.connect(path, timeout=30) as db:
        for _ in range(6000):
            row = db.execute("select worker from cells where state = 'running'").fetchone()
            if row is not None:
                return int(row[0].rpartition(":")[2])
            time.sleep(0.01)
    raise AssertionError("no cell is running")


def test_a_worker_that_is_killed_costs_no_cell(tmp_path):
    store = Store(tmp_path / "spread.db", PLAN)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        failed = []

        def run_cells_there():
            own = Store(store.path)  # connections belong to a thread
            failed.append(run_on_cluster(own, cluster.scheduler_address))
            own.close()

        run = Thread(target=run_cells_there)
        run.start()
        os.kill(running_process(store.path), signal.SIGKILL)
        run.join(120)
        assert failed == [0]
    assert store.counts()["done"] == len(PLAN.cells())
    store.close()


def one(*_):
    return 1


def test_every_worker_has_a_task(tmp_path, monkeypatch):
    monkeypatch.setattr("immax.bench.cluster._run_here", one)
    store = Store(tmp_path / "spread.db", PLAN)
    with distributed.LocalCluster(
        n_workers=7, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        assert run_on_cluster(store, cluster.scheduler_address) == 7
    store.close()


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr("immax.bench.cluster.CONNECT", 0.5)
    store = Store(tmp_path / "spread.db", PLAN)
    with pytest.raises(ValueError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        run_on_cluster(store, "tcp://127.0.0.1:9")
    store.close()
