"""Losses under compilers, exporters, function transforms, mixed precision and processes."""

import copy
import shutil

import process_cases
import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS, make

from immax.losses import catalog
from immax.torch import (
    IMMAXExponentialLoss,
    IMMAXHingeLoss,
    IMMAXLoss,
    SpecLoss,
    linear_immax_loss,
    routes,
)
from immax.torch.functional import immax_loss, spec_loss

C = COUNTS.size


def losses():
    modules = {name: SpecLoss(make(name)) for name in catalog.METHODS}
    modules["hinge"] = IMMAXHingeLoss(COUNTS)
    modules["exponential"] = IMMAXExponentialLoss(COUNTS)
    modules["IMMAXLoss"] = IMMAXLoss(COUNTS)
    modules["learnable"] = IMMAXLoss(COUNTS, learnable=True)
    return modules


LOSSES = losses()


@pytest.fixture(params=list(LOSSES))
def module(request):
    return LOSSES[request.param]


@pytest.fixture(params=[name for name in LOSSES if name != "equal"])
def deterministic(request):
    return LOSSES[request.param]


@pytest.fixture
def single(batch):
    logits, target = batch
    return logits.float(), target


@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_compiles_as_one_graph(deterministic, single):
    logits, target = single
    torch._dynamo.reset()
    compiled = torch.compile(deterministic, fullgraph=True, backend="aot_eager")
    eager, fused = (logits.clone().requires_grad_() for _ in range(2))
    expected, found = deterministic(eager, target), compiled(fused, target)
    torch.testing.assert_close(found, expected)
    expected.backward()
    found.backward()
    torch.testing.assert_close(fused.grad, eager.grad)


@pytest.mark.skipif(not shutil.which("g++"), reason="the compiler needs a C++ compiler")
@pytest.mark.filterwarnings("ignore")
def test_compiles_to_machine_code(single):
    logits, target = single
    torch._dynamo.reset()
    compiled = torch.compile(IMMAXLoss(COUNTS), fullgraph=True)
    eager, fused = (logits.clone().requires_grad_() for _ in range(2))
    expected, found = IMMAXLoss(COUNTS)(eager, target), compiled(fused, target)
    torch.testing.assert_close(found, expected)
    expected.backward()
    found.backward()
    torch.testing.assert_close(fused.grad, eager.grad)


@pytest.mark.filterwarnings("ignore")
def test_exports(deterministic, single):
    logits, target = single
    program = torch.export.export(deterministic, (logits, target))
    torch.testing.assert_close(program.module()(logits, target), deterministic(logits, target))


def test_vmap_and_per_sample_gradients(single, route):
    logits, target = single
    rho = torch.linspace(0.5, 1.5, C)

    def loss(h, y):
        return immax_loss(h, y, rho)

    values = torch.func.vmap(loss)(logits.unsqueeze(1), target.unsqueeze(1))
    torch.testing.assert_close(values, immax_loss(logits, target, rho, reduction="none"))
    slopes = torch.func.vmap(torch.func.grad(loss))(logits, target)
    h = logits.clone().requires_grad_()
    immax_loss(h, target, rho, reduction="sum").backward()
    torch.testing.assert_close(slopes, h.grad)


def test_a_batch_of_margins_by_vmap(single):
    logits, target = single
    margins = torch.rand(4, C) + 0.5
    found = torch.func.vmap(lambda r: immax_loss(logits, target, r))(margins)
    expected = torch.stack([immax_loss(logits, target, r) for r in margins])
    torch.testing.assert_close(found, expected)


def test_vmap_of_every_module(deterministic, single):
    logits, target = single
    target[3] = -100
    parts = logits.view(4, 3, C), target.view(4, 3)
    found = torch.func.vmap(deterministic)(*parts)
    expected = torch.stack([deterministic(h, y) for h, y in zip(*parts, strict=True)])
    torch.testing.assert_close(found, expected, equal_nan=True)
    slopes = torch.func.vmap(torch.func.grad(lambda h, y: deterministic(h, y)))(*parts)
    assert slopes.shape == parts[0].shape


def by_vmap(module):
    mapped = torch.func.vmap(module, randomness="different")
    return lambda h, y: mapped(h.view(4, -1, C), y.view(4, -1)).flatten()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["compile", "export", "vmap", "autocast"])
def test_transforms_of_a_random_loss_draw_for_each_sample(way, single):
    logits, target = (part.repeat_interleave(20, 0) for part in single)
    module = SpecLoss(make("equal"), reduction="none")
    torch._dynamo.reset()
    if way == "compile":
        transformed = torch.compile(module, fullgraph=True, backend="aot_eager")
    elif way == "export":
        transformed = torch.export.export(module, (logits, target)).module()
    else:
        transformed = by_vmap(module) if way == "vmap" else module
    torch.manual_seed(0)
    with torch.autocast("cpu", enabled=way == "autocast"):
        losses = transformed(logits, target)
    rare = torch.tensor(module.spec.droppable) & ~F.one_hot(target, C).bool()
    none = F.cross_entropy(logits, target, reduction="none")
    all_of_them = F.cross_entropy(logits.masked_fill(rare, -torch.inf), target, reduction="none")
    dropped = torch.isclose(losses, all_of_them, rtol=1e-5)
    kept = torch.isclose(losses, none, rtol=1e-5)
    assert (dropped | kept).all()
    assert dropped.float().mean().item() == pytest.approx(module.spec.drop_rate, abs=0.15)
    assert all_of_them.mean() < losses.mean() < none.mean()


def test_functions_of_the_fused_layer_can_be_transformed(single):
    _, target = single
    x, w, rho = torch.randn(12, 3), torch.randn(C, 3), torch.linspace(0.5, 1.5, C)
    found = torch.func.grad(lambda w: linear_immax_loss(x, w, target, rho))(w)
    leaf = w.clone().requires_grad_()
    linear_immax_loss(x, leaf, target, rho).backward()
    torch.testing.assert_close(found, leaf.grad)


@pytest.mark.filterwarnings("ignore")
def test_exports_for_batches_of_any_size(single):
    logits, target = single
    size = {0: torch.export.Dim("n", min=2)}
    program = torch.export.export(
        IMMAXLoss(COUNTS), (logits, target), dynamic_shapes=(size, size)
    ).module()
    more = logits.repeat(4000, 1), target.repeat(4000)
    torch.testing.assert_close(program(*more), IMMAXLoss(COUNTS)(*more))


def test_functional_calls_leave_a_module_as_it_was(single):
    logits, target = single
    for module, name in ((SpecLoss(make("bs")), "offset"), (IMMAXLoss([9] * C), "fixed_rho")):
        other = {name: torch.linspace(0.5, 1.5, C)}
        changed = torch.func.functional_call(module, other, (logits, target))
        plain = module(logits, target)
        assert changed != plain
        assert module(logits, target) == plain
        module.load_state_dict(other, assign=True)
        torch.testing.assert_close(module(logits, target), changed)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_computes_in_single_precision_as_cross_entropy_does(deterministic, single, dtype):
    logits, target = single
    half = logits.to(dtype)
    with torch.autocast("cpu", dtype=dtype):
        found = deterministic(half, target)
        assert found.dtype == F.cross_entropy(half, target).dtype == torch.float32
    torch.testing.assert_close(found, deterministic(half.float(), target))


def test_two_processes_give_the_gradients_of_one(ranks):
    for found in (rank["network"] for rank in ranks):
        torch.testing.assert_close(found, process_cases.gradients())


def test_no_value_is_read_back_to_the_host(module):
    """On the meta device there are no values: reading one fails."""
    logits = torch.zeros(6, C, device="meta", requires_grad=True)
    target = torch.zeros(6, dtype=torch.long, device="meta")
    moved = copy.deepcopy(module).to("meta")
    loss = moved(logits, target)
    loss.backward()
    assert loss.device.type == "meta"
    assert logits.grad.shape == logits.shape


def test_fused_operations_read_no_value(spec, monkeypatch):
    for name in ("FEWEST_ENTRIES", "FEWEST_ENTRIES_OF_MANY_OPERATIONS"):
        monkeypatch.setattr(routes, name, 0)
    logits = torch.zeros(6, C, device="meta", requires_grad=True)
    target = torch.zeros(6, dtype=torch.long, device="meta")
    loss = spec_loss(logits, target, spec)
    loss.backward()
    assert logits.grad.shape == logits.shape
