"""Surfaces of λ and power: what is computed, and what the page says of it."""

import numpy as np
import pytest

from immax.bench.data import Split
from immax.bench.plan import parse_plan
from immax.bench.run import Place, work
from immax.bench.store import Store
from immax.bench.surface_tables import Surfaces, read_surfaces, surface_table
from immax.bench.surfaces import surface
from immax.datasets import gaussian_mixture
from immax.evaluation.selection import Selection
from immax.linear import IMMAXClassifier
from immax.margins import power_margins
from immax.plots.surfaces import plot_surfaces

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


def test_a_point_is_a_fit_of_the_estimator():
    X, y = gaussian_mixture([300, 60, 20], 4, 2.0, random_state=0)[:2]
    split = Split(X, y, {"balanced": (X, y)}, ("a", "b", "c"))
    points = surface(split, Selection(lams=(0.05,), powers=(0.25,)))["surface"]
    rho = power_margins(np.bincount(y), 0.25) * 3
    model = IMMAXClassifier(lam=0.05, margins=rho / rho.sum())
    # λ is for margins of mean one, those of the estimator sum to one: scores are a third.
    model.set_params(lam=0.05 * 9).fit(X, y)
    assert points[0]["train"] == pytest.approx(model.score(X, y), abs=0.01)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("surface") / "tiny.db", parse_plan(PLAN))
    assert work(store, Place()) == 0
    return store


def test_the_page_has_tables_and_a_picture(store, tmp_path):
    from immax.bench.page import write_page

    write_page(store, tmp_path / "tiny.md", "a command", None, "immax")
    text = (tmp_path / "tiny.md").read_text()
    assert "| λ | training error, % | t = 0.00 | t = 0.50 | best t: gain over t = 0 |" in text
    assert "balanced test, log_loss, 2 runs" in text
    assert (tmp_path / "tiny-accuracy.svg").stat().st_size > 1000


def test_surfaces_are_read_in_order(store):
    found = read_surfaces(store.records())[0]
    assert found.lams.tolist() == [0.1, 0.001]
    assert found.powers.tolist() == [0.0, 0.5]
    assert found.train.shape == (2, 2, 2)
    points = store.records()[0].result["surface"]
    wanted = next(p for p in points if p["lam"] == 0.001 and p["power"] == 0.5)
    assert found.tests["balanced", "accuracy"][0, 1, 1] == wanted["tests"]["balanced"]["accuracy"]


def test_a_power_is_bold_only_if_it_is_significantly_better():
    values = np.array([[[0.5, 0.6]], [[0.5, 0.61]], [[0.52, 0.62]]])
    found = Surfaces(
        "made up",
        np.array([0.1]),
        np.array([0.0, 0.3]),
        np.full((3, 1, 2), 0.9),
        {("balanced", "accuracy"): values, ("balanced", "log_loss"): values},
    )
    row = surface_table(found, "balanced", "accuracy").rows[0]
    assert row[:4] == ["0.1", "10.00", "50.67", "*61.00"]
    assert row[4].startswith("0.30: +10.33")
    down = surface_table(found, "balanced", "log_loss").rows[0]
    assert down[2:] == ["0.5067", "0.6100", "–"]
    assert len(plot_surfaces([found, found], "balanced", "accuracy").axes) == 2
