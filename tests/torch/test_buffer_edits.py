"""What a buffer holds when a loss is called is what counts, for every loss and route."""

import copy
import pickle
from functools import partial

import pytest
import torch
from torch_cases import COUNTS, PARAMS

import immax.torch as it
from immax.torch.losses import MODULES

C = COUNTS.size
EQUAL = [5] * C


def make_losses():
    losses = {
        name: partial(module, COUNTS, **PARAMS.get(name, {})) for name, module in MODULES.items()
    }
    losses["equal margins"] = lambda: it.IMMAXLoss(EQUAL)
    losses["hinge"] = lambda: it.IMMAXHingeLoss(EQUAL)
    losses["exponential"] = lambda: it.IMMAXExponentialLoss(EQUAL)
    losses["weighted"] = lambda: it.IMMAXLoss(EQUAL, weight=[1.0] * C)
    return losses


LOSSES = make_losses()
# Every buffer of every loss; draws of a mask of booleans are tested with their method.
BUFFERS = [
    (loss, name)
    for loss, make in LOSSES.items()
    for name, buffer in make().named_buffers()
    if buffer.dtype.is_floating_point
]
MARGINS = [(loss, name) for loss, name in BUFFERS if name == "fixed_rho"]
FACTORS = torch.tensor([2.0, 1, 1, 1, 0.5])


def edit_an_entry(module, name):
    module.get_buffer(name)[0] *= 2
    module.get_buffer(name)[C - 1] *= 0.5


def edit_data(module, name):
    module.get_buffer(name).data.mul_(FACTORS)


def edit_through_numpy(module, name):
    module.get_buffer(name).numpy()[:] *= FACTORS.numpy()


def copy_values(module, name):
    module.get_buffer(name).copy_(module.get_buffer(name) * FACTORS)


def assign(module, name):
    setattr(module, name, module.get_buffer(name) * FACTORS)


def load_state(module, name):
    state = {key: value.clone() for key, value in module.state_dict().items()}
    state[name] *= FACTORS
    module.load_state_dict(state)


def load_state_by_assignment(module, name):
    state = {key: value.clone() for key, value in module.state_dict().items()}
    state[name] *= FACTORS
    module.load_state_dict(state, assign=True)


def edit_after_a_conversion(module, name):
    module.double().float()
    edit_an_entry(module, name)


def edit_in_inference_mode(module, name):
    with torch.inference_mode():
        module.get_buffer(name).mul_(FACTORS)


EDITS = [
    edit_an_entry,
    edit_data,
    edit_through_numpy,
    copy_values,
    assign,
    load_state,
    load_state_by_assignment,
    edit_after_a_conversion,
    edit_in_inference_mode,
]


def value_and_gradient(module, batch):
    logits = batch[0].float().requires_grad_()
    torch.manual_seed(0)
    loss = module(logits, batch[1])
    loss.backward()
    return loss.detach(), logits.grad


@pytest.fixture
def labels(batch):
    logits, target = batch
    target[:C] = torch.arange(C)
    return 0.3 * logits, target


@pytest.mark.parametrize(("loss", "name"), BUFFERS)
def test_edits_count(loss, name, labels, route):
    # A module that has had these values from the start, and was never called before.
    expected_module = LOSSES[loss]()
    setattr(expected_module, name, expected_module.get_buffer(name) * FACTORS)
    expected = value_and_gradient(expected_module, labels)
    for edit in EDITS:
        module = LOSSES[loss]()
        before = value_and_gradient(module, labels)
        edit(module, name)
        found = value_and_gradient(module, labels)
        assert found[0] != before[0], edit
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("loss", "name"), MARGINS)
def test_margins_back_at_their_old_values_give_the_old_loss(loss, name, labels, route):
    module = LOSSES[loss]()
    before = value_and_gradient(module, labels)
    rho = module.rho.clone()
    module.rho[0] = 3
    assert value_and_gradient(module, labels)[0] != before[0]
    module.set_margins(rho)
    after = value_and_gradient(module, labels)
    assert torch.equal(after[0], before[0])
    assert torch.equal(after[1], before[1])


def test_margins_can_be_assigned_by_their_public_name(labels, route):
    module = it.IMMAXLoss(EQUAL)
    before = value_and_gradient(module, labels)[0]
    module.rho = FACTORS.clone()
    expected = value_and_gradient(it.IMMAXLoss(rho=FACTORS), labels)[0]
    found = value_and_gradient(module, labels)[0]
    assert found == expected != before


@pytest.mark.filterwarnings("ignore:You are using `torch.load`:FutureWarning")  # PyTorch 2.4
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_edited_on_their_own(duplicate, labels, route):
    module = it.IMMAXLoss(EQUAL)
    before = value_and_gradient(module, labels)[0]
    other = duplicate(module)
    other.rho[0] = 2
    assert value_and_gradient(other, labels)[0] != before
    assert value_and_gradient(module, labels)[0] == before


def test_a_warm_up_counts_in_each_step(labels, route):
    module = it.IMMAXLoss(COUNTS)
    full = value_and_gradient(module, labels)[0]
    warmup = it.MarginWarmup(module, steps=3)
    losses = [value_and_gradient(module, labels)[0]]
    for _ in range(3):
        warmup.step()
        losses.append(value_and_gradient(module, labels)[0])
    assert losses[0] == value_and_gradient(it.IMMAXLoss(EQUAL), labels)[0]
    assert losses[-1] == full
    assert len({loss.item() for loss in losses}) == 4


def test_deferred_weights_count(labels, route):
    module = it.IMMAXLoss(EQUAL)
    before = value_and_gradient(module, labels)[0]
    schedule = it.DeferredReweighting(module, COUNTS, start_epoch=1)
    schedule.step(0)
    assert value_and_gradient(module, labels)[0] == before
    schedule.step(1)
    assert value_and_gradient(module, labels)[0] != before
    module.class_weight[0] = 100
    heavy = value_and_gradient(module, labels)[0]
    weight = module.class_weight.tolist()
    assert heavy == value_and_gradient(it.IMMAXLoss(EQUAL, weight=weight), labels)[0]


def test_binary_margins_and_weights():
    logits, target = torch.linspace(-1, 1, 8), torch.tensor([0.0, 1] * 4)
    module = it.IMMAXBinaryLoss(alpha=0.5, weight=torch.ones(8))
    before, chance = module(logits, target), module.proba(logits)
    module.rho[0] = 2
    assert module(logits, target) != before
    assert not torch.equal(module.proba(logits), chance)
    module.rho[0] = 1
    assert module(logits, target) == before
    module.weight[0] = 3
    assert module(logits, target) != before


@pytest.mark.filterwarnings("ignore")  # the compiler's own
@pytest.mark.parametrize(("loss", "name"), BUFFERS)
def test_edits_count_in_a_compiled_loss(loss, name, labels):
    if loss == "equal":
        pytest.skip("draws differ under the compiler")
    module = LOSSES[loss]()
    torch._dynamo.reset()
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    before = compiled(labels[0].float(), labels[1])
    for edit in (edit_an_entry, assign):
        edit(module, name)
        found, expected = (one(labels[0].float(), labels[1]) for one in (compiled, module))
        torch.testing.assert_close(found, expected)
        assert found != before
