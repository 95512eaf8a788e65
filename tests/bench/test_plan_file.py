"""Plans from TOML, and what is wrong with some of them."""

import tomllib

import pytest
from bench_cases import ROOT

from immax.bench.plan_file import PlanError, load_plan, parse_plan

PLANS = sorted((ROOT / "experiments").glob("*.toml"))


def content(**changes):
    base = {
        "name": "small",
        "title": "A small one",
        "models": ["linear", "mlp"],
        "methods": ["ce", "ldam", "immax"],
        "runs": 2,
        "data": {"names": ["made_up_images"]},
        "imbalance": {"kind": "long_tailed", "ratios": [10, 100]},
        "selection": {"folds": 3, "trials": 2},
        "training": {"epochs": 1},
    }
    return base | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metods": []}, r"unknown key 'metods'; did you mean 'methods'\?"),
        ({"methods": ["imax"]}, r"unknown method 'imax'; did you mean 'immax'\?"),
        ({"models": ["resnet43"]}, r"unknown model 'resnet43'; did you mean 'resnet34'\?"),
        ({"data": {"names": ["cifar"]}}, r"unknown data set 'cifar'; did you mean 'cifar10'\?"),
        ({"data": {"names": []}}, r"data.names is empty"),
        ({"data": {}}, r"\[data\] is incomplete"),
        ({"data": {"names": ["mnist"], "share": 2}}, r"data.share must be above 0"),
        ({"data": {"names": ["mnist"], "size": -1}}, r"data.size must be 0 or more; got -1"),
        ({"data": {"names": ["keel"], "share": 0.5}}, r"data.share is for images, not for 'keel'"),
        ({"data": {"names": ["keel"], "max_rows": -1}}, r"data.max_rows must be 0 or more"),
        ({"data": {"names": ["mnist"], "max_rows": 9}}, r"data.max_rows is for keel and multi"),
        ({"grids": {"ce": {"epochs": [2]}}}, r"grids.ce.epochs needs selection.each = true"),
        (
            {"models": ["mlp"], "selection": {"each": True}, "grids": {"ce": {"epochs": [1.5]}}},
            r"grids.ce.epochs must be whole numbers",
        ),
        ({"selection": {"each": True}}, r"selection.each is for the networks resnet8"),
        ({"training": {"epoch": 3}}, r"unknown key 'epoch' in \[training\]; did you mean 'epochs'"),
        ({"training": {"epochs": "3"}}, r"training.epochs must be of type int; got '3'"),
        ({"training": {"epochs": 0}}, r"training.epochs must be at least 1; got 0"),
        ({"training": {"compile": 1}}, r"training.compile must be of type bool"),
        ({"training": 3}, r"training must be a table"),
        ({"training": {"clip": -1}}, r"training.clip must be 0 or more"),
        ({"imbalance": {"ratios": 10}}, r"imbalance.ratios must be a list; got 10"),
        ({"imbalance": {"ratios": [0.5]}}, r"ratios must be at least 1"),
        ({"imbalance": {"kind": "steps"}}, r"did you mean 'step'"),
        ({"imbalance": {"kind": "one_vs_rest"}}, r"imbalance.classes is empty"),
        ({"imbalance": {"tests": ["balance"]}}, r"did you mean 'balanced'"),
        ({"data": {"names": ["mnist"], "features": ["pixel"]}}, r"did you mean 'pixels'"),
        ({"data": {"names": ["mnist"], "features": ["pixels"] * 2}}, r"or one for each"),
        ({"selection": {"folds": 1}}, r"selection.folds must be at least 2"),
        (
            {"selection": {"folds": 3, "use_folds": 4}},
            r"use_folds must be at most selection.folds, 3; got 4",
        ),
        ({"runs": 0}, r"runs must be at least 1"),
        ({"first_run": -1}, r"first_run must be 0 or more"),
        ({"runs": True}, r"runs must be of type int"),
        ({"grids": {"lda": {"C": [1]}}}, r"did you mean 'ldam'"),
        ({"grids": {"ldam": {"C": 1}}}, r"grids.ldam.C must be a list"),
        ({"grids": {"immax": {"lam": []}}}, r"grids.immax.lam is empty"),
    ],
)
def test_errors_name_the_key(changes, message):
    with pytest.raises(PlanError, match=message):
        parse_plan(content(**changes))


def test_files_that_are_not_plans(tmp_path):
    with pytest.raises(PlanError, match="there is no plan"):
        load_plan(tmp_path / "none.toml")
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PlanError, match="cannot be read"):
        load_plan(path)
    path.write_text("name = ")
    with pytest.raises(PlanError, match="is not TOML"):
        load_plan(path)
    path.write_text("name = 'x'")
    with pytest.raises(PlanError, match=r"plan.toml: the key 'title' is missing"):
        load_plan(path)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plans_that_ship_can_be_read(path):
    plan = load_plan(path)
    assert plan.name == path.stem
    if "keel" not in plan.data.names:
        assert plan.cells()


@pytest.mark.parametrize(
    "name", ["cifar-longtail", "cifar-step", "tiny-imagenet", "tiny-imagenet-step"]
)
def test_the_papers_plans_are_the_papers(name):
    plan = load_plan(ROOT / "experiments" / f"{name}.toml")
    recipe = plan.training
    assert plan.models == ("resnet34",)
    assert plan.imbalance.ratios == (200, 100, 10)
    assert "imbalanced" in plan.imbalance.tests
    assert len(plan.methods) == 9
    assert plan.runs == 5
    assert (recipe.epochs, recipe.batch_size, recipe.lr) == (200, 1024, 0.2)
    assert (recipe.momentum, recipe.weight_decay, recipe.warmup) == (0.9, 1e-3, 0)
    assert recipe.pad == (8 if name.startswith("tiny-imagenet") else 4)
    assert recipe.augment == ("crop" if name.startswith("tiny-imagenet") else "crop_flip")
    text = (ROOT / "experiments" / f"{name}.toml").read_text()
    assert tomllib.loads(text)["selection"]["folds"] == 5
