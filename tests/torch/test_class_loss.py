"""The base class of the losses, and the loss of a LossSpec."""

import numpy as np
import pytest
import torch
from torch_cases import COUNTS, make

import immax.torch as it
from immax.losses import LossSpec
from immax.torch.table import COLUMNS

C = COUNTS.size


def test_spec_modules_follow_too(spec, batch):
    logits, target = batch

    def loss(module):
        torch.manual_seed(0)
        return module(logits.float(), target)

    module = it.SpecLoss(spec)
    other = it.SpecLoss(make(spec.name, np.roll(COUNTS, 1)))
    if module.state_dict():  # cross-entropy has none, and the focal loss only a number
        assert loss(other) != loss(module)
    other.load_state_dict(module.state_dict())
    assert loss(other) == loss(module)
    half = it.SpecLoss(spec).half()
    assert all(b.dtype in (torch.float16, torch.bool) for b in half.buffers())


def test_columns_that_a_module_has_not_are_loaded(batch):
    logits, target = batch
    plain, other = it.SpecLoss(LossSpec(np.ones(C))), it.SpecLoss(make("bs"))
    assert plain.offset is None
    plain.load_state_dict(other.state_dict())
    assert plain(logits, target) == other(logits, target)


def test_columns_of_several_precisions_go_together(batch):
    logits, target = batch
    module = it.SpecLoss(make("vs"))
    expected = module(logits, target)
    module.offset = module.offset.double()
    torch.testing.assert_close(module(logits, target), expected)
    torch.testing.assert_close(module(logits.float(), target), expected.float())


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("temperature", -1.0, r"temperature\[3\] is -1.0; it must be a positive, finite number"),
        ("scale", 0.0, r"scale\[3\] is 0.0; it must be a positive, finite number"),
        ("offset", float("nan"), r"offset\[3\] is nan; it must be a finite number"),
        ("target_offset", float("inf"), r"target_offset\[3\] is inf; it must be a finite number"),
        ("weight", -2.0, r"weight\[3\] is -2.0; it must be a finite number of at least 0"),
    ],
)
def test_an_edit_that_is_wrong_is_named(column, value, message, batch, route):
    rng = np.random.default_rng(0)
    numbers = {name: rng.uniform(0.5, 2, C) for name in ("scale", "offset", "target_offset")}
    spec = LossSpec(rng.uniform(0.5, 2, C), weight=rng.uniform(0.5, 2, C), **numbers)
    logits, target = batch
    module = it.SpecLoss(spec)
    module(logits.requires_grad_(), target)
    getattr(module, column)[3] = value
    with pytest.raises(ValueError, match=message):
        module(logits, target)


class WithCriterion(torch.nn.Module):
    def __init__(self, criterion):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.criterion = criterion


def test_a_checkpoint_of_cross_entropy_loads():
    plain = WithCriterion(torch.nn.CrossEntropyLoss()).state_dict()
    weighted = torch.nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]))
    for loss in (it.IMMAXLoss, it.LDAMLoss, it.IMMAXHingeLoss):
        module = WithCriterion(loss([90, 10]))
        expected = {name: value.clone() for name, value in module.criterion.state_dict().items()}
        module.load_state_dict(plain)
        assert module.criterion.state_dict().keys() == expected.keys()
        for name, value in module.criterion.state_dict().items():
            assert torch.equal(value, expected[name])
        module.load_state_dict(WithCriterion(weighted).state_dict())
        assert module.criterion.class_weight.tolist() == [1, 3]
    learnt = WithCriterion(it.IMMAXLoss([90, 10], learnable=True))
    learnt.load_state_dict(plain)
    binary = WithCriterion(it.IMMAXBinaryLoss([90, 10]))
    binary.load_state_dict(WithCriterion(torch.nn.BCEWithLogitsLoss()).state_dict())


def test_a_checkpoint_of_another_method_does_not():
    module = WithCriterion(it.IMMAXLoss([90, 10]))
    with pytest.raises(RuntimeError, match="offset"):
        module.load_state_dict(WithCriterion(it.LogitAdjustedLoss([90, 10])).state_dict())


WEIGHTED = (
    lambda counts: it.ReweightedLoss(counts),
    lambda counts: it.ClassBalancedLoss(counts, gamma=0.9),
    lambda counts: it.SpecLoss(make("rw", counts)),
)


@pytest.mark.parametrize("loss", WEIGHTED)
def test_weights_of_cross_entropy_do_not_replace_those_of_a_method(loss):
    weighted = torch.nn.CrossEntropyLoss(weight=torch.linspace(1, 3, C))
    module = WithCriterion(loss(COUNTS))
    own = module.criterion.weight.clone()
    with pytest.raises(RuntimeError, match="must neither be replaced by them nor be multiplied"):
        module.load_state_dict(WithCriterion(weighted).state_dict())
    assert torch.equal(module.criterion.weight, own)
    assert module.criterion.class_weight is None


@pytest.mark.parametrize("loss", WEIGHTED)
def test_states_of_methods_with_weights_load(loss):
    module, other = loss(COUNTS), loss(np.roll(COUNTS, 1))
    earlier = {"weight": module.weight.clone()}  # without an entry of counts
    module.load_state_dict(earlier)
    module.half().load_state_dict(earlier)
    module.float().load_state_dict(other.state_dict())
    torch.testing.assert_close(module.weight, other.weight)


def test_the_spec_of_the_buffers():
    module, other = it.SpecLoss(make("vs")), it.SpecLoss(make("vs", np.roll(COUNTS, 1)))
    for name in COLUMNS:  # in full precision
        assert np.array_equal(getattr(module.current_spec(), name), getattr(module.spec, name))
    module.load_state_dict(other.state_dict())
    module.temperature = torch.full((C,), 2.0)
    other.scale = None
    for name in ("scale", "offset", "temperature"):
        found = module.current_spec()
        np.testing.assert_array_equal(getattr(found, name), getattr(module, name).numpy())
    assert np.array_equal(other.current_spec().scale, np.ones(C))
    assert module.current_spec().name == "vs"
