"""Trainings: they learn, repeat, and are resumed exactly."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from process_groups import run_two_processes

from immax.bench import training
from immax.bench.sections import TrainingPlan
from immax.bench.training import train
from immax.evaluation.estimators import network_spec

FOLDER = Path(__file__).parent
RECIPE = TrainingPlan(
    epochs=4, batch_size=32, lr=0.05, warmup=1, augment="crop_flip", pad=1, checkpoint_every=1
)


def images(n=96, classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    patterns = rng.integers(60, 196, (classes, 3, 8, 8))
    return np.clip(patterns[y] + rng.normal(0, 40, (n, 3, 8, 8)), 0, 255).astype(np.uint8), y


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
    half = train("resnet8", X, y, spec, replace(RECIPE, precision="bfloat16"), seed=1)
    assert np.mean(half.scores(X).argmax(axis=1) == y) > 0.6


@pytest.mark.skipif(not shutil.which("g++"), reason="the compiler needs a C++ compiler")
@pytest.mark.filterwarnings("ignore")  # those of the compiler's own modules
def test_compiled_networks_are_the_same():
    X, y = images(100)  # the last batch of an epoch is smaller than the others
    spec = network_spec("ce", [1, 1, 1], {})
    recipe = replace(RECIPE, epochs=1)
    scores = [
        train("mlp", X, y, spec, replace(recipe, compile=compiled), seed=1).scores(X)
        for compiled in (False, True, True)
    ]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-4)
    np.testing.assert_array_equal(scores[2], scores[1])


def test_short_gradients_keep_a_training_from_diverging():
    X, y = images(240)
    spec = network_spec("rw", [238, 1, 1], {})
    fast = replace(RECIPE, lr=1e3, warmup=0)
    recipes = [replace(fast, clip=clip) for clip in (0.0, 1e-5)]
    scores = [train("mlp", X, y, spec, own, seed=0).scores(X) for own in recipes]
    assert not np.isfinite(scores[0]).all()
    assert np.isfinite(scores[1]).all()


def test_re_weighting_is_normalised_within_each_mini_batch(monkeypatch):
    """As in the paper: the average weight of a batch is one, so classes of one size are CE."""
    X, y = images(240)
    specs = {name: network_spec(name, [80, 80, 80], {}) for name in ("ce", "rw")}
    scores = {
        name: train("softmax", X, y, own, RECIPE, seed=0).scores(X) for name, own in specs.items()
    }
    np.testing.assert_allclose(scores["rw"], scores["ce"], rtol=1e-4, atol=1e-5)
    uneven = network_spec("rw", [200, 39, 1], {})
    made = []
    kind = training.SpecLoss

    def spec_loss(spec, **options):
        made.append(options)
        return kind(spec, **options)

    monkeypatch.setattr(training, "SpecLoss", spec_loss)
    train("softmax", X, y, uneven, replace(RECIPE, epochs=1), seed=0)
    train("softmax", X, y, specs["ce"], replace(RECIPE, epochs=1), seed=0)
    assert made == [{"normalize": "batch"}, {"normalize": None}]


def test_a_training_resumes_to_the_same_bits(tmp_path):
    X, y = images()
    spec = network_spec("equal", np.array([900, 90, 1]), {"threshold": 0.5})
    expected = train("resnet8", X, y, spec, RECIPE, seed=1).scores(X)

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
    np.testing.assert_array_equal(resumed.scores(X), expected)


def test_two_processes_train_one_network(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, numpy as np\n"
        f"sys.path[:0] = {[str(FOLDER), str(FOLDER.parent / 'support')]!r}\n"
        "from test_training import RECIPE, images\n"
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
    run_two_processes(script, out, cwd=tmp_path)
    X, y = images()
    alone = train(
        "mlp", X, y, network_spec("immax", np.array([60, 30, 6]), {}), RECIPE, seed=1
    ).scores(X)
    # Halves of a batch of even size, averaged, are the batch.
    np.testing.assert_allclose(np.load(out), alone, atol=1e-3)
