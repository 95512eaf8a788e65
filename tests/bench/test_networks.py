"""Networks, augmentation, checkpoints, and trainings that are cut short."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from immax.bench.augmentation import augment
from immax.bench.checkpoint import load_checkpoint, save_checkpoint
from immax.bench.networks import make_network
from immax.bench.plan import parse_plan
from immax.bench.run import work
from immax.bench.store import Store
from immax.bench.training import train
from immax.evaluation.estimators import network_spec

RECIPE = {
    "epochs": 4,
    "batch_size": 32,
    "lr": 0.05,
    "momentum": 0.9,
    "weight_decay": 1e-3,
    "warmup": 1,
    "augment": "crop_flip",
    "pad": 1,
    "precision": "float32",
    "channels_last": True,
    "compile": False,
    "checkpoint_every": 1,
}


def images(n=96, classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    patterns = rng.integers(60, 196, (classes, 3, 8, 8))
    return np.clip(patterns[y] + rng.normal(0, 40, (n, 3, 8, 8)), 0, 255).astype(np.uint8), y


@pytest.mark.parametrize(
    ("name", "parameters"),
    # Those of He et al. for CIFAR, and of ResNet-18 and -34 with ten classes and a 3×3 stem.
    [
        ("resnet20", 269_722),
        ("resnet32", 464_154),
        ("resnet18", 11_173_962),
        ("resnet34", 21_282_122),
    ],
)
def test_networks_have_the_sizes_that_are_known(name, parameters):
    network = make_network(name, (3, 32, 32), 10)
    assert sum(p.numel() for p in network.parameters()) == parameters


@pytest.mark.parametrize("name", ["resnet8", "mlp", "softmax"])
def test_networks_take_other_shapes(name):
    assert make_network(name, (1, 28, 28), 7)(torch.zeros(2, 1, 28, 28)).shape == (2, 7)


def test_crops_and_flips_are_those_of_a_loop():
    x = torch.arange(5 * 2 * 4 * 4, dtype=torch.float32).reshape(5, 2, 4, 4) + 1
    found = augment(x, "crop_flip", 2, torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(3)
    shift = torch.randint(0, 5, (2, 5), generator=generator)
    flip = torch.rand(5, generator=generator) < 0.5
    padded = torch.nn.functional.pad(x, (2, 2, 2, 2))
    for i in range(5):
        top, left = shift[0, i], shift[1, i]
        crop = padded[i, :, top : top + 4, left : left + 4]
        assert torch.equal(found[i], crop.flip(2) if flip[i] else crop)
    assert flip.any()
    assert augment(x, "none", 2, generator) is x


@pytest.mark.parametrize("method", ["ce", "equal", "immax"])
def test_a_training_learns_and_repeats(method):
    X, y = images(240)
    counts = np.array([60, 30, 6])
    spec = network_spec(method, counts, {})
    runs = [train("resnet8", X, y, spec, RECIPE, seed=1).scores(X) for _ in range(2)]
    np.testing.assert_array_equal(*runs)
    assert np.mean(runs[0].argmax(axis=1) == y) > 0.6


def test_bfloat16_trains_too():
    X, y = images(240)
    spec = network_spec("ce", [1, 1, 1], {})
    half = train("resnet8", X, y, spec, {**RECIPE, "precision": "bfloat16"}, seed=1)
    assert np.mean(half.scores(X).argmax(axis=1) == y) > 0.6


def test_short_gradients_keep_a_training_from_diverging():
    X, y = images(240)
    spec = network_spec("rw", [238, 1, 1], {})
    wild = RECIPE | {"lr": 1e3, "warmup": 0}
    scores = [train("mlp", X, y, spec, wild | {"clip": c}, seed=0).scores(X) for c in (0.0, 1e-5)]
    assert not np.isfinite(scores[0]).all()
    assert np.isfinite(scores[1]).all()


def test_a_network_that_diverges_is_a_result(tmp_path):
    plan = parse_plan(
        {
            "name": "wild",
            "title": "Far too large a step",
            "models": ["mlp"],
            "methods": ["ce", "la"],
            "data": {"names": ["made_up_images"]},
            "selection": {"folds": 3, "use_folds": 1, "trials": 2},
            "training": {"epochs": 2, "batch_size": 256, "lr": 1e9},
        }
    )
    store = Store(tmp_path / "wild.db", plan)
    assert work(store) == 0
    found = store.records(["done"])
    assert len(found) == 4
    for record in found:
        assert record.result["diverged"]
        for measures in record.result["tests"].values():
            assert measures["accuracy"] == pytest.approx(0.1, abs=0.01)
            assert measures["log_loss"] == pytest.approx(np.log(10), abs=0.05)


def test_a_training_goes_on_to_the_same_bits(tmp_path):
    X, y = images()
    spec = network_spec("equal", np.array([900, 90, 1]), {"threshold": 0.5})
    whole = train("resnet8", X, y, spec, RECIPE, seed=1).scores(X)

    class CutError(Exception):
        pass

    def cut(epoch, point):
        if epoch == 2:
            raise CutError

    path = tmp_path / "state.safetensors"
    with pytest.raises(CutError):
        train("resnet8", X, y, spec, RECIPE, seed=1, checkpoint=path, on_epoch=cut)
    epochs = []
    resumed = train(
        "resnet8",
        X,
        y,
        spec,
        RECIPE,
        seed=1,
        checkpoint=path,
        on_epoch=lambda epoch, point: epochs.append(epoch),
    )
    assert epochs == [3, 4]
    np.testing.assert_array_equal(resumed.scores(X), whole)


def test_a_damaged_checkpoint_counts_as_none(tmp_path):
    network = make_network("mlp", (1, 2, 2), 2)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    path = tmp_path / "state.safetensors"
    assert load_checkpoint(path, network, optimiser) is None
    save_checkpoint(path, network.state_dict(), optimiser.state_dict(), {"epoch": 3})
    assert load_checkpoint(path, network, optimiser)["epoch"] == 3
    path.write_bytes(path.read_bytes()[:100])
    assert load_checkpoint(path, network, optimiser) is None
    path.write_bytes(b"")
    assert load_checkpoint(path, network, optimiser) is None


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    network = make_network("mlp", (1, 2, 2), 2)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    path = tmp_path / "state.safetensors"
    save_checkpoint(path, network.state_dict(), optimiser.state_dict(), {"epoch": 3})

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("immax.bench.checkpoint.save_file", full)
    with pytest.raises(OSError, match="No space"):
        save_checkpoint(path, network.state_dict(), optimiser.state_dict(), {"epoch": 4})
    assert load_checkpoint(path, network, optimiser)["epoch"] == 3
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


PLAN = """
name = "killed"
title = "Killed and gone on with"
models = ["resnet8"]
methods = ["ce", "equal"]
[data]
names = ["made_up_images"]
[imbalance]
kind = "step"
ratios = [10]
[training]
epochs = 6
batch_size = 32
lr = 0.1
augment = "crop_flip"
pad = 1
[selection]
folds = 3
use_folds = 1
trials = 2
"""


def command(plan, store):
    return [sys.executable, "-m", "immax", "bench", "run", str(plan), "--store", str(store)]


def results(store):
    from immax.bench.store import Store

    records = Store(store).records()
    return {
        record.cell.id: (record.result, {k: v.tolist() for k, v in record.labels.items()})
        for record in records
    }


def test_a_run_that_is_really_killed_ends_with_the_same_bits(tmp_path):
    plan = tmp_path / "killed.toml"
    plan.write_text(PLAN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command(plan, tmp_path / "whole.db"), check=True, env=environment)
    expected = results(tmp_path / "whole.db")
    rng = np.random.default_rng(int(time.time()))
    cut = tmp_path / "cut.db"
    kills = 0
    while kills < 4:
        process = subprocess.Popen(command(plan, cut), env=environment)
        try:
            process.wait(timeout=rng.uniform(3.0, 7.0))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills
    subprocess.run(command(plan, cut), check=True, env=environment)
    assert results(cut) == expected


def test_two_processes_train_one_network(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, numpy as np\n"
        f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from test_networks import RECIPE, images\n"
        "from immax.evaluation.estimators import network_spec\n"
        "from immax.bench.training import train\n"
        "import torch.distributed as dist\n"
        "X, y = images()\n"
        "spec = network_spec('immax', np.array([60, 30, 6]), {})\n"
        "scores = train('mlp', X, y, spec, RECIPE, seed=1).scores(X)\n"
        "if dist.get_rank() == 0: np.save(sys.argv[1], scores)\n"
        "dist.barrier(); dist.destroy_process_group()\n"
    )
    out = tmp_path / "scores.npy"
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]
    run += ["--master-addr=127.0.0.1", "--master-port=29571", str(script), str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(run, check=True, env=environment, timeout=240)
    X, y = images()
    alone = train(
        "mlp", X, y, network_spec("immax", np.array([60, 30, 6]), {}), RECIPE, seed=1
    ).scores(X)
    # Halves of a batch of even size, averaged, are the batch.
    np.testing.assert_allclose(np.load(out), alone, atol=1e-3)
