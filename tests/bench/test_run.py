"""Runs that are interrupted, killed or fail."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from immax.bench import run as running
from immax.bench.plan_file import parse_plan
from immax.bench.run import run_cells
from immax.bench.store import Store

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
epochs = 6
batch_size = 32
lr = 0.1
augment = "crop_flip"
pad = 1
[selection]
folds = 3
use_folds = 1
trials = 2
"""


def command(plan, store):
    return [sys.executable, "-m", "immax", "bench", "run", str(plan), "--store", str(store)]


def results(store):
    return {
        record.cell.id: (
            record.result.to_json(),
            {name: own.tolist() for name, own in record.result.labels().items()},
        )
        for record in Store(store).records()
    }


def test_a_run_that_is_killed_and_resumed_ends_with_the_same_bits(tmp_path):
    plan = tmp_path / "killed.toml"
    plan.write_text(PLAN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command(plan, tmp_path / "whole.db"), check=True, env=environment)
    expected = results(tmp_path / "whole.db")
    rng = np.random.default_rng(int(time.time()))
    cut = tmp_path / "cut.db"
    kills = 0
    while kills < 4:
        process = subprocess.Popen(command(plan, cut), env=environment)
        try:
            process.wait(timeout=rng.uniform(3.0, 7.0))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills
    subprocess.run(command(plan, cut), check=True, env=environment)
    assert results(cut) == expected


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
