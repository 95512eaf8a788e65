"""The last layer of networks of any kind is replaced, and wrong selections are refused."""

import copy
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from head_cases import loader, network, samples
from torch import nn

from immax.torch import IMMAXHead, collect_features, refit_head

X, Y = samples()
HELD, LABELS = samples(150, seed=1)
FEW = {"lams": [0.01, 0.1], "margins": 0.1}  # cells of a search
TRAIN, HELD_OUT = loader(X, Y), loader(HELD, LABELS)


def trained(c=3, y=Y, epochs=300):
    """Return a network that fits its training samples."""
    model = network(c=c, width=256)
    model[2].p = 0.0
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    target = torch.tensor(y)
    for _ in range(epochs):
        optimiser.zero_grad()
        scores = model(torch.tensor(X))
        if c == 1:
            nn.functional.binary_cross_entropy_with_logits(scores[:, 0], target.float()).backward()
        else:
            nn.functional.cross_entropy(scores, target).backward()
        optimiser.step()
    return model.eval()


@pytest.fixture(scope="module")
def interpolating():
    model = trained()
    assert (model(torch.tensor(X)).argmax(1).numpy() == Y).mean() > 0.995
    return model


def log_loss(head, model):
    with torch.no_grad():
        log_p = head.log_proba(model(torch.tensor(HELD)))
    return -float(log_p[torch.arange(len(LABELS)), torch.tensor(LABELS)].mean())


def test_held_out_samples():
    model = network()
    features, y = collect_features(model, HELD_OUT)
    head = refit_head(model, HELD_OUT)
    assert model[3] is head
    assert head.record.selected_on == "folds"
    peer = IMMAXHead.fit(features, y)
    torch.testing.assert_close(head.weight, peer.weight)
    scores = model.eval()(torch.tensor(HELD))
    torch.testing.assert_close(scores, peer(torch.tensor(features)))


def test_the_recipe_of_the_readme():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(
        r"```\w*\n(from immax.torch import refit_head\n.*?)```", readme, re.DOTALL
    )
    assert len([line for line in recipe.splitlines() if line]) <= 5
    model, images = network().eval(), torch.tensor(X[:7])
    names = {"model": model, "held_out_loader": loader(X, Y), "images": images}
    exec(recipe, names)
    assert model[-1] is names["head"]
    proba = names["head"].proba(names["logits"])
    assert torch.allclose(proba.sum(1), torch.ones(7))
    assert torch.equal(names["logits"], model(images))


def test_training_samples_with_a_selection(interpolating):
    model = copy.deepcopy(interpolating)
    parts = collect_features(model, TRAIN), collect_features(model, HELD_OUT)
    with torch.no_grad():
        before = nn.functional.cross_entropy(model(torch.tensor(HELD)), torch.tensor(LABELS))
    head = refit_head(model, TRAIN, selection=HELD_OUT, **FEW)
    assert head.record.selected_on == "held-out"
    assert head.record.n_samples == len(Y)
    peer = IMMAXHead.fit(*parts[0], selection=parts[1], **FEW)
    torch.testing.assert_close(head.weight, peer.weight)
    assert log_loss(head, model) < float(before)


def test_training_samples_alone_are_refused(interpolating):
    model = copy.deepcopy(interpolating)
    old = model[3]
    with pytest.raises(ValueError, match=r"cannot be chosen .* selection=held_out_loader"):
        refit_head(model, TRAIN)
    with pytest.raises(ValueError, match="cannot be chosen"):
        refit_head(model, TRAIN, method="ldam")
    with pytest.raises(ValueError, match="cannot be chosen"):
        refit_head(model, TRAIN, lam=0.1)  # margins are chosen
    assert model[3] is old
    refit_head(copy.deepcopy(model), TRAIN, selection="folds", **FEW)
    refit_head(copy.deepcopy(model), TRAIN, lam=0.1, margins="theory")
    refit_head(copy.deepcopy(model), TRAIN, lam=0.1, method="bs")


def test_a_selection_that_the_network_fits_is_warned_of(interpolating):
    with pytest.warns(UserWarning, match="cannot be chosen"):
        refit_head(copy.deepcopy(interpolating), TRAIN, selection=TRAIN, **FEW)


def test_samples_that_the_network_nearly_fits_are_warned_of(interpolating):
    right = interpolating(torch.tensor(X)).argmax(1).numpy()
    right[:6] = (right[:6] + 1) % 3  # 2.5 % of errors
    nearly = loader(X, right)
    for selection in (None, nearly):
        with pytest.warns(UserWarning, match="cannot be chosen"):
            refit_head(copy.deepcopy(interpolating), nearly, selection=selection, **FEW)


def test_hyper_parameters_are_not_chosen_on_training_samples(interpolating):
    ldam = {"method": "ldam", "lam": 1e-3, "method_params": {"C": [0.1, 0.5, 1.0]}}
    for options in (ldam, {"method": "tau_norm"}):
        model = copy.deepcopy(interpolating)
        with pytest.raises(ValueError, match="hyper-parameters cannot be chosen"):
            refit_head(model, TRAIN, **options)
        refit_head(copy.deepcopy(model), TRAIN, selection=HELD_OUT, **options)
        refit_head(copy.deepcopy(model), TRAIN, selection="folds", **options)


def test_the_record_says_where_tau_was_chosen(interpolating):
    for selection, expected in (("folds", "loader"), (HELD_OUT, "held-out")):
        model = copy.deepcopy(interpolating)
        head = refit_head(model, TRAIN, method="tau_norm", selection=selection)
        assert head.record.selected_on == expected
    head = refit_head(model, TRAIN, method="tau_norm", tau=0.5)
    assert head.record.selected_on == "nothing"
    with pytest.raises(ValueError, match="only one of tau and selection"):
        refit_head(model, TRAIN, method="tau_norm", tau=0.5, selection=HELD_OUT)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("crt", {"epochs": 2}),
        ("tau_norm", {}),
        ("tau_norm", {"tau": 0.5}),
        ("logit_adjustment", {}),
        ("ldam", {"lams": [0.01, 0.1]}),
    ],
)
def test_rivals(method, options):
    model = network()
    head = refit_head(model, HELD_OUT, method=method, **options)
    assert head.record.method == method
    assert model[3] is head


def test_rivals_refuse_what_they_cannot_use():
    with pytest.raises(ValueError, match="'crt' selects nothing"):
        refit_head(network(), TRAIN, selection=HELD_OUT, method="crt")
    two = loader(X, (Y > 0).astype(int))
    for method in ("crt", "tau_norm", "logit_adjustment"):
        with pytest.raises(ValueError, match=f"'{method}' needs an output for each class"):
            refit_head(network(c=1), two, method=method)


def test_one_logit():
    labels, held = (Y > 0).astype(int), (LABELS > 0).astype(int)
    model = trained(1, labels, epochs=20)
    before = collect_features(model, loader(HELD, held))[0]
    data = loader(HELD, torch.tensor(held).float()[:, None])  # as for BCEWithLogitsLoss
    head = refit_head(model, data, **FEW)
    assert model[3] is head
    assert head.out_features == 1
    scores = model(torch.tensor(HELD))
    assert scores.shape == (150, 1)
    peer = IMMAXHead.fit(before, held, **FEW)
    torch.testing.assert_close(head.proba(scores), peer.proba(peer(torch.tensor(before))))


def test_a_lightning_module():
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
            self.classifier = nn.Linear(16, 3)

        def forward(self, x):
            return self.classifier(self.body(x))

        def training_step(self, batch, _):
            x, y = batch
            return nn.functional.cross_entropy(self(x), y)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)

    module = Module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Lightning, about workers and logging
        trainer = lightning.Trainer(
            max_epochs=2,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(module, TRAIN)
    head = refit_head(module, HELD_OUT, **FEW)
    assert module.classifier is head
    scores = module(torch.tensor(HELD))
    assert (head.predict(scores).numpy() == LABELS).mean() > 0.6


def test_modes_precision_and_hooks_are_kept():
    model = network().double().train()
    model[0].eval()
    head = refit_head(model, loader(HELD.astype(float), LABELS), **FEW)
    assert head.weight.dtype == torch.float64
    assert [module.training for module in model] == [False, True, True, True]
    assert all(not m._forward_hooks and not m._forward_pre_hooks for m in model.modules())


def test_a_network_can_be_refitted_again():
    model = network()
    refit_head(model, HELD_OUT, lam=0.1, margins="equal")
    head = refit_head(model, HELD_OUT, lam=0.01, margins="theory")
    assert model[3] is head


def test_networks_that_change_the_scores():
    model = nn.Sequential(*network(), nn.Softmax(1))
    with pytest.warns(UserWarning, match="does not return the scores of layer '3' as they are"):
        head = refit_head(model, HELD_OUT, **FEW)
    assert model[3] is head


def test_networks_that_return_more_than_scores():
    class Output(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.body, self.kind = network(), kind

        def forward(self, x):
            scores = self.body(x)
            return {"logits": scores} if self.kind == "dict" else (scores, x)

    for kind in ("dict", "tuple"):
        model = Output(kind)
        head = refit_head(model, HELD_OUT, lam=0.1, margins="equal")  # without a warning
        assert model.body[3] is head


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"layer": "1"}, ValueError, "layer must be linear; '1' is ReLU"),
        ({"method": "svm"}, ValueError, "method must be one of"),
        ({"selection": "cv"}, ValueError, "selection must be"),
        ({"selection": iter(())}, TypeError, "got an iterator"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        refit_head(network(), HELD_OUT, **arguments)


def test_labels_that_do_not_fit_the_layer():
    with pytest.raises(ValueError, match="class 3 has no samples in labels of loader"):
        refit_head(network(c=4), HELD_OUT)
    with pytest.raises(ValueError, match="labels of loader holds 2; classes go from 0 to 1"):
        refit_head(network(c=2), HELD_OUT)
    with pytest.raises(ValueError, match="the model is the layer itself"):
        refit_head(nn.Linear(4, 3), HELD_OUT)
    with pytest.raises(ValueError, match="loader is empty"):
        refit_head(network(), [])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu():
    model = network().cuda()
    head = refit_head(model, HELD_OUT)
    assert head.weight.is_cuda
    proba = head.proba(model(torch.tensor(HELD).cuda()))
    np.testing.assert_allclose(proba.sum(1).cpu().numpy(), 1, atol=1e-5)
