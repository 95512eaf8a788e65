"""Runs that are interrupted, killed or fail."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from immax.bench import run as running
from immax.bench.plan_file import parse_plan
from immax.bench.run import run_cells
from immax.bench.store import Store, StoreError

PLAN = """
name = "killed"
title = "Killed and resumed"
models = ["resnet8"]
methods = ["ce", "equal"]
[data]
names = ["made_up_images"]
[imbalance]
kind = "step"
ratios = [10]
[training]
epochs = 3
batch_size = 32
lr = 0.1
augment = "crop_flip"
pad = 1
[selection]
folds = 3
use_folds = 1
trials = 2
"""


def results(store):
    return {
        record.cell.id: (
            record.result.to_json(),
            {name: own.tolist() for name, own in record.result.labels().items()},
        )
        for record in Store(store).records()
    }


def run_in_a_process(plan, store):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "immax", "bench", "run", str(plan), "--store", str(store)]
    return subprocess.Popen(command, env=environment)


def test_a_run_that_is_killed_and_resumed_ends_with_the_same_bits(tmp_path):
    plan = tmp_path / "killed.toml"
    plan.write_text(PLAN)
    assert run_in_a_process(plan, tmp_path / "whole.db").wait(240) == 0
    expected = results(tmp_path / "whole.db")
    rng = np.random.default_rng(int(time.time()))
    cut = tmp_path / "cut.db"
    for most in (1, 2):  # killed at any moment of the first cell, and of those after it
        process = run_in_a_process(plan, cut)
        while not (cut.exists() and _begun(cut) >= most):
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert run_in_a_process(plan, cut).wait(240) == 0
    assert results(cut) == expected


def _begun(path):
    """Return how many cells were begun, 0 while the store is being written."""
    try:
        counts = Store(path).counts()
    except (StoreError, sqlite3.OperationalError):
        return 0
    return counts["running"] + counts["done"]


@pytest.fixture
def store(tmp_path):
    content = {
        "name": "small",
        "title": "A small one",
        "models": ["linear"],
        "methods": ["ce"],
        "runs": 3,
        "data": {"names": ["made_up_images"], "share": 0.1},
        "selection": {"folds": 2, "lams": [0.1]},
    }
    return Store(tmp_path / "small.db", parse_plan(content))


def test_callbacks_limits_and_the_commit(store, monkeypatch):
    monkeypatch.setattr(running, "describe_commit", lambda: "abc")
    states = []
    assert run_cells(store, limit=2, on_cell=lambda cell, state: states.append(state)) == 0
    assert states == ["begun", "done"] * 2
    assert store.counts()["done"] == 2
    assert store.results().commit == "abc"


def test_an_interrupted_cell_is_released(store, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_cell", stop)
    with pytest.raises(KeyboardInterrupt):
        run_cells(store)
    assert store.counts()["waiting"] == 3


def test_failed_cells_are_retried_when_asked(store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(running, "run_cell", lambda *_: 1 / 0)
        assert run_cells(store) == 3
        assert run_cells(store) == 0
    assert "ZeroDivisionError" in store.records(["failed"])[0].error
    assert run_cells(store, retry_failed=True) == 0
    assert store.counts()["done"] == 3


def test_a_cell_that_cannot_be_written_is_released(store):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    run_cells(store, limit=2)
    store.finish = full
    with pytest.raises(OSError, match="the disk is full"):
        run_cells(store, limit=1)
    assert store.counts() == {"waiting": 1, "running": 0, "done": 2, "failed": 0}


def test_heartbeats(store, monkeypatch):
    monkeypatch.setattr(running, "HEARTBEAT", 0.01)
    seen = []
    monkeypatch.setattr(Store, "heartbeat", lambda self, cell: seen.append(cell))
    cell = store.claim()
    with running._heartbeats(store.path, cell):
        while not seen:
            time.sleep(0.01)
    assert seen[0] == cell
