"""Results by data set, model and method."""

import numpy as np
from bench_cases import cell, record

from immax.bench.cells import DataSpec, NetworkCell, Variant
from immax.bench.outcomes import CellResult, HeldOutResult, Record
from immax.bench.results import Results, column_of
from immax.bench.sections import TrainingPlan


def test_columns_are_without_folds_and_runs():
    names = {
        "iris0": Variant(set_name="iris0", fold=3),
        "cifar10 horse": Variant(kind="one_vs_rest", class_name="horse"),
        "cifar10 step 100": Variant(kind="step", ratio=100.0, minority=0.5),
        "cifar10": Variant(kind="none"),
    }
    assert [column_of(cell(variant=variant)) for variant in names.values()] == list(names)


def test_runs_are_in_order_and_missing_values_are_nan():
    runs = [record("ce", run, accuracy=0.1 * run) for run in (2, 0, 1)]
    own = Results([*runs, record("la", 0, log_loss=1.0), Record(cell(), "done", CellResult())])
    assert own.values("cifar10", "linear", "ce", "imbalanced", "accuracy").tolist() == [0, 0.1, 0.2]
    assert np.isnan(own.values("cifar10", "linear", "la", "imbalanced", "accuracy")).all()
    assert own.methods == ["ce", "la"]
    matrix = own.matrix("linear", "imbalanced", "accuracy", ["ce", "la", "rw"])
    np.testing.assert_allclose(matrix, [[0.1, np.nan, np.nan]])


def differences(one, two, metric="accuracy"):
    own = Results([*one, *two])
    pair = (one[0].cell.method, two[0].cell.method)
    return own.differences("cifar10", "linear", pair, "imbalanced", metric).tolist()


def test_differences_over_samples_that_runs_share():
    truth = [0, 1, 1]
    one = [record("immax", run, labels=([0, 1, 1], truth), accuracy=1.0) for run in range(2)]
    two = [
        record("ce", 0, labels=([1, 1, 1], truth), accuracy=2 / 3),
        record("ce", 1, labels=([1, 1, 0], truth), accuracy=1 / 3),
    ]
    assert differences(one, two) == [1.0, 0.0, 0.5]


def test_differences_over_samples_of_different_tests_are_joined():
    one = [record("immax", run, labels=([0, 1], [0, run]), accuracy=1.0) for run in range(2)]
    two = [record("ce", run, labels=([1, 1], [0, run]), accuracy=1.0) for run in range(2)]
    assert differences(one, two) == [1.0, 0.0, 1.0, 0.0]


def test_differences_of_other_metrics_are_over_runs():
    one = [record("immax", run, log_loss=0.5) for run in range(2)]
    two = [record("ce", run, log_loss=0.25 * run) for run in range(2)]
    assert differences(one, two, "log_loss") == [0.5, 0.25]
    assert differences(one, two[:1], "log_loss") == []  # not the same runs


def test_fixed_parameters_and_recipes_are_part_of_the_names():
    data, variant = DataSpec("cifar10"), Variant(kind="long_tailed", ratio=100.0)

    def network(method, params, epochs, lr):
        recipe = TrainingPlan(epochs=epochs, lr=lr)
        own = NetworkCell(
            data, variant, ("balanced",), "mlp", method, recipe, (params,), "accuracy", 0
        )
        return Record(own, "done", CellResult(params, {"balanced": HeldOutResult({})}))

    records = [
        network("ce", {}, 30, 0.1),
        network("immax", {"power": 1 / 3, "total": 1.0}, 30, 0.1),
    ]
    own = Results(records)
    assert own.columns == ["cifar10 long_tailed 100"]
    assert own.methods == ["ce", "immax power=0.333 total=1"]
    longer = Results([*records, network("ce", {}, 60, 0.01)])
    assert longer.columns == [f"cifar10 long_tailed 100, {epochs} epochs" for epochs in (30, 60)]
    assert longer.methods[0] == "ce lr=0.1"
    assert len(longer.of("cifar10 long_tailed 100, 60 epochs", "mlp", "ce lr=0.01")) == 1
