"""Files of heads give the same head back, and anything else is refused."""

import json

import numpy as np
import pytest
import torch
from head_cases import samples
from safetensors import safe_open
from safetensors.torch import save_file

from immax.torch import IMMAXHead

X, Y = samples()
ROWS = torch.tensor(X)


@pytest.mark.parametrize(
    "options",
    [
        {"lam": 0.01},
        {"method": "ldam", "lam": 0.01, "method_params": {"C": 0.3}},
        {"method": "equal", "lam": 0.01, "method_params": {"threshold": 0.5}},
        {"method": "focal", "lam": 0.01},
        {"aim": "balanced_accuracy", "lams": [0.01, 0.1], "cv": 2},
    ],
)
def test_a_head_comes_back(options, tmp_path):
    head = IMMAXHead.fit(X, Y, **options)
    head.save(tmp_path / "head.safetensors")
    again = IMMAXHead.load(tmp_path / "head.safetensors")
    scores = head(ROWS)
    assert torch.equal(again(ROWS), scores)
    assert torch.equal(again.proba(scores), head.proba(scores))
    assert torch.equal(again.predict(scores), head.predict(scores))
    assert again.criterion.spec == head.criterion.spec
    assert again.counts == head.counts
    assert again.record == head.record


def test_one_logit_and_budgets(tmp_path):
    head = IMMAXHead.fit(X, (Y > 0).astype(int), lam=0.01, one_logit=True)
    from immax.decisions import Rule

    head.rule = Rule(np.arange(2), np.eye(2), np.array([0.6, 0.4]), "budget", 1, 7)
    head.save(tmp_path / "head.safetensors")
    again = IMMAXHead.load(tmp_path / "head.safetensors")
    assert again.out_features == 1
    assert again.predict(again(ROWS)).sum() == 7


def test_nothing_is_pickled(tmp_path):
    IMMAXHead.fit(X, Y, lam=0.01).save(tmp_path / "head.safetensors")
    with safe_open(tmp_path / "head.safetensors", "pt") as file:
        about = json.loads(file.metadata()["immax"])
    assert about["record"]["lam"] == 0.01
    assert about["counts"] == np.bincount(Y).tolist()


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "head.safetensors"
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="not a safetensors file"):
        IMMAXHead.load(path)
    save_file({"weight": torch.zeros(2, 2)}, path)
    with pytest.raises(ValueError, match="not the file of a head"):
        IMMAXHead.load(path)
    with pytest.raises(FileNotFoundError):
        IMMAXHead.load(tmp_path / "missing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about, tensors: about.update(format=9), "format 9"),
        (lambda about, tensors: about.pop("spec"), "cannot be read as a head"),
        (lambda about, tensors: about.update(counts=[1, 2]), "do not fit"),
        (lambda about, tensors: about["record"].update(stranger=1), "stranger"),
        (lambda about, tensors: tensors.update(bias=torch.zeros(2)), "do not fit"),
        (lambda about, tensors: tensors.pop("spec.weight"), "cannot be read as a head"),
    ],
)
def test_altered_files_are_refused(change, message, tmp_path):
    path = tmp_path / "head.safetensors"
    IMMAXHead.fit(X, Y, lam=0.01).save(path)
    with safe_open(path, "pt") as file:
        about = json.loads(file.metadata()["immax"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(about, tensors)
    save_file(tensors, path, metadata={"immax": json.dumps(about)})
    with pytest.raises(ValueError, match=message):
        IMMAXHead.load(path)
