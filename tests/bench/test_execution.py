"""Cells of each kind, and which hyper-parameters trials select."""

import numpy as np
import pytest
from bench_cases import cell

from immax.bench.cells import NetworkCell, TrialCell
from immax.bench.data import Split, load_split
from immax.bench.execution import HELD_OUT, RunOptions, _held_out_fold, run_cell, select_params
from immax.bench.outcomes import CellResult, HeldOutResult
from immax.bench.plan_file import parse_plan
from immax.bench.run import run_cells
from immax.bench.store import Store


def plan(**changes):
    content = {
        "name": "small",
        "title": "A small one",
        "models": ["mlp"],
        "methods": ["la"],
        "data": {"names": ["made_up_images"], "share": 0.1},
        "selection": {"folds": 3, "use_folds": 2, "trials": 3},
        "training": {"epochs": 1, "batch_size": 64},
    }
    return parse_plan(content | changes)


def test_the_best_mean_score_of_the_trials_is_selected(tmp_path):
    store = Store(tmp_path / "small.db", plan())
    means = {}
    values = iter([0.5, 0.6, 0.9, 0.4, 0.7, 0.9])  # means: 0.55, 0.65, 0.8
    while (own := store.claim()) is not None and isinstance(own, TrialCell):
        value = next(values)
        means.setdefault(own.params["tau"], []).append(value)
        test = HeldOutResult({"accuracy": value})
        store.finish(own, CellResult(dict(own.params), {HELD_OUT: test}), 1.0, None, {})
    assert isinstance(own, NetworkCell)
    best = max(means, key=lambda tau: np.mean(means[tau]))
    assert select_params(own, store) == {"tau": best}
    assert best == own.points[2]["tau"]


def test_every_class_is_trained_on():
    y = np.array([0] * 9 + [1])
    split = Split(np.arange(10)[:, None], y, {}, ("a", "b"))
    for fold in range(3):
        part = _held_out_fold(split, 3, fold)
        assert set(part.y) == {0, 1}
        assert set(part.tests) == {HELD_OUT}


def test_an_estimator_keeps_its_predictions(tmp_path):
    store = Store(tmp_path / "small.db", plan(models=["linear"], methods=["ce"]))
    own = store.claim()
    result = run_cell(own, store, RunOptions(), lambda *_: None)
    test = result.tests["imbalanced"]
    assert np.mean(test.predicted == test.truth) == test.metrics["accuracy"]
    assert set(result.chosen) == {"lam", "method_params", "score"}


def test_other_cells_are_refused(tmp_path):
    store = Store(tmp_path / "small.db", plan())
    with pytest.raises(TypeError, match="must be an EstimatorCell"):
        run_cell(super(type(cell()), cell()), store, RunOptions(), lambda *_: None)


def test_a_network_that_diverges_is_a_result(tmp_path):
    plan = parse_plan(
        {
            "name": "diverging",
            "title": "Far too large a step",
            "models": ["mlp"],
            "methods": ["ce", "la"],
            "data": {"names": ["made_up_images"]},
            "selection": {"folds": 3, "use_folds": 1, "trials": 2},
            "training": {"epochs": 2, "batch_size": 256, "lr": 1e9},
        }
    )
    store = Store(tmp_path / "diverging.db", plan)
    assert run_cells(store) == 0
    records = store.records(["done"])
    assert len(records) == 4
    for record in records:
        assert record.result.diverged
        for test in record.result.tests.values():
            assert test.metrics["accuracy"] == pytest.approx(0.1, abs=0.01)
            assert test.metrics["log_loss"] == pytest.approx(np.log(10), abs=0.05)


def test_tests_on_the_training_set_and_by_its_class_shares(tmp_path):
    pytest.importorskip("torch")
    tests = ["weighted", "balanced", "training"]
    own = plan(
        models=["softmax"],
        methods=["immax"],
        data={"names": ["made_up_images"], "size": 4},
        imbalance={"kind": "long_tailed", "ratios": [10], "tests": tests},
        selection={"each": True},
        grids={"immax": {"power": [0.5], "total": [1.0]}},
        training={"epochs": 2, "batch_size": 64},
    )
    store = Store(tmp_path / "small.db", own)
    found = run_cell(store.claim(), store, RunOptions(), lambda *_: None)
    assert dict(found.chosen) == {"power": 0.5, "total": 1.0}
    counts = load_split(own.cells()[0], None, 0, flat=False).counts
    balanced = found.tests["balanced"]
    right = [np.mean(balanced.predicted[balanced.truth == k] == k) for k in range(10)]
    expected = counts / counts.sum() @ right
    assert found.tests["weighted"].metrics["accuracy"] == pytest.approx(expected)
    assert set(found.tests["weighted"].metrics) == {"accuracy", "log_loss"}
    assert found.tests["training"].predicted is None
    assert found.tests["training"].metrics["accuracy"] > 0.5
