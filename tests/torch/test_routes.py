"""The choice of the route, and that all routes agree."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS, make

import immax.torch as it
from immax.losses import LossSpec
from immax.torch import composite, functional, fused, routes
from immax.torch.call import Call
from immax.torch.functional import immax_loss, spec_loss
from immax.torch.routes import Route, choose_route
from immax.torch.table import Table

C = COUNTS.size


def chosen(logits, spec=None, smoothing=0.0, weight=None, **options):
    table = Table.of(make("immax") if spec is None else spec)
    return choose_route(logits, table, weight, smoothing, **options)


def scores(*shape, grad=True):
    return torch.zeros(*shape, requires_grad=grad)


@pytest.fixture
def large():
    return scores(routes.FEWEST_ENTRIES // C + 1, C)


@pytest.fixture(params=[True, False])
def fused_route(request, monkeypatch):
    monkeypatch.setattr(routes, "has_numba", lambda: request.param)
    return Route.COMPILED if request.param else Route.OPERATIONS


def test_large_batches_in_training_are_fused(large, fused_route):
    assert chosen(large) is fused_route


def test_many_operations_are_fused_sooner(fused_route):
    rows = routes.FEWEST_ENTRIES_OF_MANY_OPERATIONS // C + 1
    assert chosen(scores(rows, C)) is Route.COMPOSITE
    for method in ("focal", "equal"):
        assert chosen(scores(rows, C), make(method)) is fused_route


def test_other_devices_use_operations(large, monkeypatch):
    monkeypatch.setattr(routes, "has_numba", lambda: True)
    assert chosen(large.detach().to("meta").requires_grad_()) is Route.OPERATIONS


def test_everything_else_is_composite(large, monkeypatch):
    weight = torch.ones(C, requires_grad=True)
    assert chosen(scores(8, C)) is Route.COMPOSITE
    assert chosen(large.detach()) is Route.COMPOSITE
    assert chosen(large, smoothing=0.1) is Route.COMPOSITE
    assert chosen(large, weight=weight) is Route.COMPOSITE
    assert chosen(scores(100, C, 64, 64)) is Route.COMPOSITE
    with torch.no_grad():
        assert chosen(large) is Route.COMPOSITE

    class Subclass(torch.Tensor):
        pass

    assert chosen(large.detach().as_subclass(Subclass).requires_grad_()) is Route.COMPOSITE
    learnt = Table(temperature=torch.ones(C, requires_grad=True))
    assert choose_route(large, learnt) is Route.COMPOSITE


def test_traced_calls_are_composite(large):
    seen = []

    def loss(h):
        seen.append(chosen(h, unit_margins=True))
        seen.append(chosen(h, by_blocks=True))
        return h.sum()

    torch.func.grad(loss)(large.detach())
    assert seen == [Route.COMPOSITE, Route.COMPOSITE]


def test_unit_margins_are_cross_entropy(large):
    assert chosen(large, unit_margins=True) is Route.CROSS_ENTROPY
    assert chosen(scores(8, C), unit_margins=True) is Route.CROSS_ENTROPY


def test_blocks_are_always_fused(fused_route):
    assert chosen(scores(3, 2, grad=False), by_blocks=True) is fused_route


def quick_route(n, c, grad=True, reduction="mean", label=0):
    logits, target = scores(n, c, grad=grad), torch.zeros(n, dtype=torch.int64)
    target[-1] = label
    rho = it.IMMAXLoss(np.arange(1, c + 1)).rho
    immax_loss(torch.zeros(1, c), target[:1], rho)
    return routes.choose_quick_route(logits, target, rho, -100, reduction)


@pytest.mark.parametrize("numba", [True, False])
def test_quick_routes(numba, monkeypatch):
    monkeypatch.setattr(routes, "has_numba", lambda: numba)
    if numba:
        pytest.importorskip("numba")
    compiled = Route.QUICK_COMPILED if numba else None
    assert quick_route(8, C) is Route.QUICK_OPERATIONS
    assert quick_route(100, 100) is (compiled or Route.QUICK_OPERATIONS)
    assert quick_route(2000, 100) is (compiled or Route.QUICK_FUNCTION)
    assert quick_route(2000, 100, grad=False) is Route.QUICK_OPERATIONS
    assert quick_route(2000, 100, reduction="sum") is Route.QUICK_OPERATIONS
    assert quick_route(20_000, 100) is None


@pytest.mark.parametrize("label", [-100, -1, 100])
@pytest.mark.parametrize("n", [8, 100, 2000])
@pytest.mark.parametrize("numba", [True, False])
def test_quick_routes_are_for_labels_that_are_classes(label, n, numba, monkeypatch):
    monkeypatch.setattr(routes, "has_numba", lambda: numba)
    if numba:
        pytest.importorskip("numba")
    assert quick_route(n, 100, label=99) is not None
    # Compiled code checks labels itself.
    expected = Route.QUICK_COMPILED if numba and n >= 100 else None
    assert quick_route(n, 100, label=label) is expected


@pytest.mark.parametrize(
    ("threads", "openmp", "compiled"),
    [(1, False, True), (2, False, True), (4, False, False), (4, True, True)],
)
def test_many_threads_of_pytorch_take_middling_batches(threads, openmp, compiled, monkeypatch):
    """Unless compiled code runs on them too."""
    pytest.importorskip("numba")
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(routes, "has_openmp", lambda: openmp)
    expected = Route.QUICK_COMPILED if compiled else Route.QUICK_OPERATIONS
    assert quick_route(400, 100) is expected


@pytest.fixture
def used(monkeypatch):
    """The routes that losses take, in order."""
    names = []

    def spy(module, name, label):
        original = getattr(module, name)

        def called(*args, **options):
            names.append(label)
            return original(*args, **options)

        monkeypatch.setattr(module, name, called)

    spy(functional, "composite_loss", Route.COMPOSITE)
    spy(fused, "_compiled", Route.COMPILED)
    spy(fused, "_by_operations", Route.OPERATIONS)
    return names


def test_the_loss_takes_the_chosen_route(batch, route, used):
    logits, target = batch
    spec_loss(logits.requires_grad_(), target, make("immax")).backward()
    assert used == [Route[route.upper()]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_margins_of_one_take_cross_entropy_itself(batch, route, used, dtype):
    logits, target = batch
    logits = logits.to(dtype)
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    weight = torch.linspace(0.5, 2, C)
    found = immax_loss(ours, target, torch.ones(C), weight)
    expected = F.cross_entropy(theirs, target, weight.to(dtype))
    found.backward()
    expected.backward()
    assert used == []
    assert found == expected
    assert torch.equal(ours.grad, theirs.grad)
    # With any other column, or other margins, it is not cross-entropy.
    spec_loss(ours, target, LossSpec(np.ones(C), offset=np.arange(C)))
    immax_loss(ours, target, torch.tensor([1.0, 1, 1, 1, 2]))
    assert len(used) == 2


def test_learnt_margins_of_one_keep_their_gradient(batch, used):
    logits, target = batch
    criterion = it.IMMAXLoss([1] * C, learnable=True)
    criterion(logits.float(), target).backward()
    assert criterion.log_rho.grad.any()
    assert used == [Route.COMPOSITE]


def test_composite_is_the_reference_of_the_others(spec, batch, route):
    logits, target = batch
    target[::4] = -100
    h = logits.clone().requires_grad_()
    seed = torch.Generator().manual_seed(1)
    loss = spec_loss(h, target, spec, generator=seed)
    loss.backward()
    table = Table.of(spec, dtype=torch.float64)
    drop = table.draw(target, torch.Generator().manual_seed(1))
    reference = logits.clone().requires_grad_()
    expected = composite.composite_loss(reference, Call(target, target.clamp_min(0), table, drop))
    expected.backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(h.grad, reference.grad)
