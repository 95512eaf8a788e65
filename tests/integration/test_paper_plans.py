"""The paper's plans end to end: two epochs on a few made-up images."""

import tomllib
from pathlib import Path

import pytest

from immax.bench.mean_tables import mean_table
from immax.bench.plan_file import parse_plan
from immax.bench.results import Results
from immax.bench.run import run_cells
from immax.bench.store import Store

ROOT = Path(__file__).parents[2]


def small(name, methods):
    content = tomllib.loads((ROOT / "experiments" / f"{name}.toml").read_text())
    content["data"] |= {"names": ["made_up_images"], "share": 0.1}
    content["imbalance"]["ratios"] = [5]
    content["training"] |= {"epochs": 2, "batch_size": 64, "precision": "float32"}
    content["selection"]["trials"] = 1
    return parse_plan({**content, "runs": 1, "methods": methods})


def run(plan, path):
    store = Store(path, plan)
    assert run_cells(store) == 0, store.records(["failed"])[0].error
    results = Results(store.records(stage="final"))
    table = mean_table(results, "resnet34", "imbalanced")
    assert [row[0] for row in table.rows] == list(plan.methods)
    curve = store.curve(store.records(stage="final")[0].cell)
    assert [epoch for epoch, _ in curve] == [1, 2]


@pytest.mark.parametrize("name", ["cifar-longtail", "cifar-step", "tiny-imagenet"])
def test_a_method_of_each_plan(name, tmp_path):
    run(small(name, ["immax"]), tmp_path / "small.db")


@pytest.mark.slow
def test_all_methods_of_a_plan(tmp_path):
    methods = ["ce", "rw", "bs", "equal", "la", "cb", "focal", "ldam", "immax"]
    run(small("cifar-longtail", methods), tmp_path / "small.db")
