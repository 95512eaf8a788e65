"""A process of its own for fits."""

import pickle

import numpy as np
import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, worker_process
from immax.compare.fold_fits import FoldData, FoldFitter, FoldTask
from immax.compare.target import encode_target
from immax.compare.worker_process import WorkerLostError, WorkerProcess
from immax.tabular import describe_columns


def test_a_fit_elsewhere_is_the_same_as_here_and_a_lost_process_is_noticed():
    X, y = mixed_table(60)
    target, protocol = encode_target(y), Protocol(folds=2)
    splits = protocol.splits(target.codes)
    data = FoldData(X, target.classes, target.codes, describe_columns(X), splits, protocol)
    worker = WorkerProcess(data)
    try:
        there = worker.attempt(FoldTask("weights", 1))
        here = FoldFitter(data).attempt(FoldTask("weights", 1))
        np.testing.assert_array_equal(there.labels, here.labels)
        np.testing.assert_array_equal(there.proba, here.proba)
        assert there.chosen == here.chosen
        worker._process.kill()
        with pytest.raises(WorkerLostError):
            worker.attempt(FoldTask("weights", 0))
    finally:
        worker.stop()
    assert worker._process.returncode is not None


def test_what_cannot_be_read_is_a_lost_process(monkeypatch):
    def broken(*_):
        raise pickle.UnpicklingError("truncated")

    worker = WorkerProcess(None)
    try:
        monkeypatch.setattr(worker_process.pickle, "load", broken)
        with pytest.raises(WorkerLostError):
            worker.attempt(FoldTask("weights", 0))
    finally:
        worker.stop()
