"""The paper's plans end to end: two epochs on a few made-up images."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from immax.bench.mean_tables import mean_table
from immax.bench.plan_file import load_plan, parse_plan
from immax.bench.results import Results
from immax.bench.run import run_cells
from immax.bench.store import Store

ROOT = Path(__file__).parents[2]


def small(name, methods):
    content = tomllib.loads((ROOT / "experiments" / f"{name}.toml").read_text())
    assert content["models"] == ["resnet34"]
    content["data"] |= {"names": ["made_up_images"], "share": 0.1}
    content["imbalance"]["ratios"] = [5]
    content["training"] |= {"epochs": 2, "batch_size": 64, "precision": "float32"}
    content["selection"]["trials"] = 1
    content["grids"]["immax"]["groups"] = content["grids"]["immax"]["groups"][:1]
    return parse_plan({**content, "runs": 1, "methods": methods})


def run(plan, path):
    store = Store(path, plan)
    assert run_cells(store) == 0, store.records(["failed"])[0].error
    results = Results(store.records(stage="final"))
    table = mean_table(results, plan.models[0], "imbalanced")
    assert [row[0] for row in table.rows] == list(plan.methods)
    curve = store.curve(store.records(stage="final")[0].cell)
    assert [epoch for epoch, _ in curve] == [1, 2]


PLANS = ["cifar-longtail", "cifar-step", "tiny-imagenet", "tiny-imagenet-step"]


@pytest.mark.parametrize("name", PLANS)
def test_a_method_of_each_plan(name, tmp_path):
    plan = small(name, ["immax"])
    if name != PLANS[0]:  # one of them with the network of all
        plan = replace(plan, models=("resnet8",))
    run(plan, tmp_path / "small.db")


def test_the_papers_search_of_margins_end_to_end(tmp_path):
    """Two margins, two values each, both scales: the choice is made from all trials."""
    plan = small("cifar-step", ["immax"])
    grid = {"groups": (2.0,), "values": (2.0,), "total": (1.0, 0.0)}
    training = replace(plan.training, epochs=1)
    selection = replace(plan.selection, trials=0, folds=2, use_folds=1)
    plan = replace(
        plan, models=("softmax",), grids={"immax": grid}, training=training, selection=selection
    )
    store = Store(tmp_path / "box.db", plan)
    assert run_cells(store) == 0, store.records(["failed"])[0].error
    assert len(store.records(stage="trial")) == 10
    (final,) = store.records(stage="final")
    assert final.result.chosen["groups"] == 2
    assert final.result.chosen["total"] in (0.0, 1.0)


@pytest.mark.parametrize("name", PLANS)
def test_plans_of_the_paper_search_as_the_paper_does(name):
    plan = load_plan(ROOT / "experiments" / f"{name}.toml")
    trials = {}
    for cell in plan.cells():
        if cell.stage == "trial" and cell.method == "immax" and cell.variant.ratio == 10:
            trials.setdefault(cell.data.name, []).append(cell.params)
    stated = {
        "cifar-longtail": {"cifar10": 202, "cifar100": 202},
        "cifar-step": {"cifar10": 50, "cifar100": 410},
        "tiny-imagenet": {"tiny_imagenet": 202},
        "tiny-imagenet-step": {"tiny_imagenet": 406},
    }[name]
    assert {data: len(points) for data, points in trials.items()} == stated
    for points in trials.values():
        factors = {value for point in points for key, value in point.items() if "factor" in key}
        assert (min(factors), max(factors)) == (0.2, 1.8)
        assert {point["total"] for point in points} == {0.0, 1.0}


@pytest.mark.slow
def test_all_methods_of_a_plan(tmp_path):
    methods = ["ce", "rw", "bs", "equal", "la", "cb", "focal", "ldam", "immax"]
    run(small("cifar-longtail", methods), tmp_path / "small.db")
