"""Losses and gradients in one pass, by Numba and by PyTorch's operations."""

import pytest
import torch
from torch_cases import COUNTS

from immax.torch import fused
from immax.torch.call import Call
from immax.torch.functional import immax_loss
from immax.torch.fused import FusedLoss, loss_and_gradient, sample_gradient
from immax.torch.routes import Route
from immax.torch.table import Table

C = COUNTS.size


@pytest.fixture(params=[Route.COMPILED, Route.OPERATIONS])
def one_pass(request):
    if request.param is Route.COMPILED:
        pytest.importorskip("numba")
    return request.param


def call_of(spec, target, reduction="mean"):
    table = Table.of(spec, dtype=torch.float64)
    drop = table.draw(target, torch.Generator().manual_seed(1))
    return Call(target, target.clamp_min(0), table, drop, reduction=reduction)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("contiguous", [False, True])
def test_against_the_numpy_kernel(spec, batch, one_pass, in_place, contiguous):
    logits, target = batch
    call = call_of(spec, target)
    kernel = spec.kernel(target.numpy())
    kernel.drop = None if call.drop is None else call.drop.numpy()
    if spec.random:
        pytest.skip("draws are compared in test_methods")
    losses, gradient = kernel.loss_gradient(logits.numpy())
    h = logits.clone() if contiguous else logits.repeat(1, 2)[:, :C].clone().T.contiguous().T
    batch = loss_and_gradient(h, call, one_pass, in_place)
    torch.testing.assert_close(batch.losses, torch.tensor(losses))
    torch.testing.assert_close(batch.gradient, torch.tensor(gradient))
    assert float(batch.total) == pytest.approx(losses.sum())
    assert batch.counted == len(target)


def test_ignored_samples_have_no_loss_and_no_gradient(spec, batch, one_pass):
    logits, target = batch
    target[::3] = -100
    result = loss_and_gradient(logits, call_of(spec, target), one_pass)
    assert not result.losses[::3].any()
    assert not result.gradient[::3].any()
    assert result.counted == (target != -100).sum()


def test_threads_change_nothing(spec, batch, monkeypatch):
    pytest.importorskip("numba")
    logits, target = batch
    call = call_of(spec, target)
    alone = loss_and_gradient(logits, call, Route.COMPILED)
    monkeypatch.setattr(fused, "ENTRIES_PER_PYTHON_THREAD", 10)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    shared = loss_and_gradient(logits, call, Route.COMPILED)
    assert torch.equal(shared.losses, alone.losses)
    assert torch.equal(shared.gradient, alone.gradient)
    assert shared.total == pytest.approx(alone.total)
    assert shared.counted == alone.counted


def test_the_first_gradient_takes_the_memory_of_the_forward_pass(spec, batch, one_pass):
    logits, target = batch
    h = logits.clone().requires_grad_()
    loss = FusedLoss.apply(h, call_of(spec, target), one_pass)
    memory = loss.grad_fn.gradient.data_ptr()
    loss.backward()
    assert h.grad.data_ptr() == memory


def test_the_gradient_of_a_mean_of_nothing_is_finite():
    one = torch.tensor(1.0)
    assert sample_gradient(one, 4) == sample_gradient(one, torch.tensor(4)) == 0.25
    assert sample_gradient(one, 0) == sample_gradient(one, torch.tensor(0)) == 1


def test_changes_in_between_are_noticed(batch, route):
    logits, target = batch
    h = logits.requires_grad_()
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)
    loss = immax_loss(h, target, rho)
    target.fill_(0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(loss, h, create_graph=True)


def test_jacobians_by_batched_gradients(batch, route):
    logits, target = batch
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)

    def loss(h):
        return immax_loss(h, target, rho, reduction="none")

    fast = torch.autograd.functional.jacobian(loss, logits, vectorize=True)
    slow = torch.autograd.functional.jacobian(loss, logits)
    torch.testing.assert_close(fast, slow)
