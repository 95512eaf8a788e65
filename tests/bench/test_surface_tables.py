"""Tables of surfaces, and which of their figures are bold."""

import numpy as np
import pytest

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
    assert found.lams.tolist() == [0.1, 0.001]
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
    return Surfaces("made up", np.array([0.1]), np.array([0.0, 0.3]), train, tests)


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
