"""Class counts are saved and loaded with the state of a loss."""

import pytest
import torch
from safetensors.torch import load, save

import immax.torch as it

COUNTS, OTHERS = [900, 90, 10], [10, 20, 70_000]
LOSSES = (it.IMMAXLoss, it.LDAMLoss, it.ReweightedLoss, it.CrossEntropyLoss, it.IMMAXHingeLoss)


@pytest.mark.parametrize("loss", LOSSES)
def test_counts_are_loaded(loss):
    module, other = loss(COUNTS), loss(OTHERS).half()
    module.load_state_dict(load(save(other.state_dict())))
    assert module.counts == (10, 20, 70_000)


def test_decisions_follow():
    logits = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    module, other = it.IMMAXLoss(COUNTS), it.IMMAXLoss(OTHERS)
    expected = other.predict(logits, rule="balanced_accuracy")
    assert not torch.equal(module.predict(logits, rule="balanced_accuracy"), expected)
    module.load_state_dict(other.state_dict())
    assert torch.equal(module.predict(logits, rule="balanced_accuracy"), expected)


def test_two_classes_with_one_logit():
    module = it.IMMAXBinaryLoss([90, 10])
    module.load_state_dict(it.IMMAXBinaryLoss([10, 20]).state_dict())
    assert module.counts == (10, 20)
    module.load_state_dict({"rho": module.rho.clone()})
    assert module.counts == (10, 20)


@pytest.mark.parametrize("loss", LOSSES)
def test_states_of_earlier_versions_keep_the_counts(loss):
    module, other = loss(COUNTS), loss(COUNTS)
    state = other.state_dict()
    del state["_extra_state"]
    module.load_state_dict(state)
    assert module.counts == (900, 90, 10)


def test_losses_without_counts():
    assert not it.CrossEntropyLoss().state_dict()
    known, unknown = it.IMMAXLoss(COUNTS), it.IMMAXLoss(rho=[1.2, 1.0, 0.8])
    known.load_state_dict(unknown.state_dict())
    assert known.counts == (900, 90, 10)
    unknown.load_state_dict(it.IMMAXLoss(OTHERS).state_dict())
    assert unknown.counts == (10, 20, 70_000)
