"""Tables of surfaces, and which of their figures are bold."""

import numpy as np
import pytest

from immax.bench.outcomes import CellResult, HeldOutResult, Record
from immax.bench.plan_file import parse_plan
from immax.bench.run import run_cells
from immax.bench.store import Store
from immax.bench.surface_tables import Surfaces, read_surfaces, surface_table

PLAN = {
    "name": "tiny",
    "title": "Tiny surfaces",
    "runs": 2,
    "models": ["surface"],
    "methods": ["immax"],
    "data": {"names": ["made_up_images"]},
    "imbalance": {"kind": "long_tailed", "ratios": [10], "tests": ["imbalanced", "balanced"]},
    "selection": {"lams": [0.1, 0.001], "powers": [0.0, 0.5]},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("surface") / "tiny.db", parse_plan(PLAN))
    assert run_cells(store) == 0
    return store


def test_surfaces_are_read_in_order(store):
    found = read_surfaces(store.records())[0]
    assert found.settings.tolist() == [0.1, 0.001]
    assert found.powers.tolist() == [0.0, 0.5]
    assert found.train.shape == (2, 2, 2)
    points = store.records()[0].result.surface
    wanted = next(point for point in points if (point.lam, point.power) == (0.001, 0.5))
    assert found.tests["balanced", "accuracy"][0, 1, 1] == wanted.tests["balanced"]["accuracy"]


def surfaces(metric, *runs):
    """Of one λ and the powers 0 and 0.3; a pair of values for each run."""
    values = np.array([[own] for own in runs])
    train = np.full(values.shape, 0.9)
    tests = {("balanced", metric): values}
    return Surfaces("made up", "λ", np.array([0.1]), np.array([0.0, 0.3]), train, tests)


def row(metric, *runs):
    return surface_table(surfaces(metric, *runs), "balanced", metric).rows[0]


def test_a_power_that_is_significantly_better_is_bold():
    own = row("accuracy", (0.5, 0.6), (0.5, 0.61), (0.52, 0.62))
    assert own[:4] == ["0.1", "10.00", "50.67", "*61.00"]
    assert own[4].startswith("0.30: +10.33 (+8.90 to ")


def test_a_power_that_is_better_by_chance_is_not_bold():
    own = row("accuracy", (0.5, 0.6), (0.5, 0.45), (0.52, 0.53))
    assert own[2:4] == ["50.67", "52.67"]
    assert own[4].startswith("0.30: +2.00 (-")


def test_equal_margins_are_never_bold():
    assert row("accuracy", (0.6, 0.5), (0.61, 0.5), (0.62, 0.52))[2:] == ["61.00", "50.67", "–"]


def test_lower_is_better_for_log_loss():
    worse = row("log_loss", (0.5, 0.6), (0.5, 0.61), (0.52, 0.62))
    assert worse[2:] == ["0.5067", "0.6100", "–"]
    better = row("log_loss", (0.6, 0.5), (0.61, 0.5), (0.62, 0.52))
    assert better[2:4] == ["0.6100", "*0.5067"]
    assert better[4].startswith("0.30: +0.1033 (")


def test_one_run_is_never_significant():
    assert row("accuracy", (0.5, 0.9))[3:] == ["90.00", "0.30: +40.00"]


NETWORKS = {
    "name": "networks",
    "title": "Two powers and two numbers of epochs",
    "runs": 2,
    "models": ["softmax"],
    "methods": ["ce", "immax", "ldam"],
    "data": {"names": ["made_up_images"]},
    "imbalance": {"kind": "long_tailed", "ratios": [10], "tests": ["balanced", "training"]},
    "selection": {"each": True},
    "grids": {
        "ce": {"epochs": [5, 1]},
        "immax": {"epochs": [5, 1], "power": [0.5, -0.5]},
        "ldam": {"epochs": [5, 1], "C": [1.0]},
    },
}


def network_records(left_out=lambda cell: False):
    """Records whose log-loss says which run, number of epochs and power they are of."""
    records = []
    for cell in parse_plan(NETWORKS).cells():
        power = 0.0 if cell.method == "ce" else cell.fixed_params.get("power", 99.0)
        value = 100 * cell.run + 10 * cell.training.epochs + power
        tests = {
            "balanced": HeldOutResult({"accuracy": 0.5, "log_loss": value}),
            "training": HeldOutResult({"accuracy": 1 - 0.1 / cell.training.epochs}),
        }
        if not left_out(cell):
            records.append(Record(cell, "done", CellResult(tests=tests)))
    return records


def test_networks_with_fixed_powers_have_surfaces_over_epochs():
    (found,) = read_surfaces(network_records())
    assert (found.setting, found.settings.tolist()) == ("epochs", [1, 5])
    assert found.powers.tolist() == [-0.5, 0.0, 0.5]
    assert found.plain == 1
    np.testing.assert_allclose(found.error(), [0.1, 0.02])
    wanted = [[[100 * run + 10 * e + t for t in (-0.5, 0, 0.5)] for e in (1, 5)] for run in (0, 1)]
    np.testing.assert_allclose(found.tests["balanced", "log_loss"], wanted)
    assert np.isnan(found.tests["balanced", "ece"]).all()
    table = surface_table(found, "balanced", "log_loss")
    assert table.header[:2] == ["epochs", "training error, %"]
    assert [own[:2] for own in table.rows] == [["1", "10.00"], ["5", "2.00"]]


def test_networks_of_a_run_that_lacks_a_power_are_left_out():
    part = network_records(lambda cell: cell.run == 0 and cell.fixed_params.get("power") == 0.5)
    (found,) = read_surfaces(part)
    assert found.train.shape == (1, 2, 3)
    assert found.tests["balanced", "log_loss"].min() == 100 + 10 - 0.5


def test_networks_without_equal_margins_or_other_powers_have_no_surface():
    assert read_surfaces(network_records(lambda cell: cell.method == "ce")) == []
    assert read_surfaces(network_records(lambda cell: cell.method == "immax")) == []
