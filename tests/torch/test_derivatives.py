"""First and second derivatives against finite differences, on every route."""

import pytest
import torch
from torch_cases import COUNTS

from immax.torch import linear_spec_loss
from immax.torch.functional import immax_loss, spec_loss
from immax.torch.surrogates import immax_binary_loss, immax_exponential_loss, immax_hinge_loss


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradcheck_and_gradgradcheck(spec, batch, route, reduction):
    logits, target = batch

    def loss(h):
        seed = torch.Generator().manual_seed(1)
        return spec_loss(h, target, spec, reduction=reduction, generator=seed)

    h = logits[:6].clone().requires_grad_()
    target = target[:6]
    assert torch.autograd.gradcheck(loss, h, nondet_tol=1e-12)
    assert torch.autograd.gradgradcheck(loss, h, nondet_tol=1e-12)


def test_margins_can_be_learnt(batch, route):
    logits, target = batch
    h = logits.clone().requires_grad_()
    rho = torch.linspace(0.5, 1.5, COUNTS.size, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h, r: immax_loss(h, target, r), (h, rho))
    assert torch.autograd.gradgradcheck(lambda h, r: immax_loss(h, target, r), (h, rho))


def test_class_weights_are_not_silently_left_without_a_gradient(batch, route):
    """PyTorch's cross-entropy refuses to differentiate in its weights, and so do we."""
    logits, target = batch
    h = logits.clone().requires_grad_()
    rho = torch.ones(COUNTS.size, dtype=torch.float64)
    weight = torch.linspace(0.5, 1.5, COUNTS.size, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="weight"):
        immax_loss(h, target, rho, weight).backward()


def test_a_retained_graph_gives_the_same_gradient_again(spec, batch, route):
    logits, target = batch
    h = logits.clone().requires_grad_()
    loss = spec_loss(h, target, spec, generator=torch.Generator().manual_seed(1))
    (first,) = torch.autograd.grad(loss, h, retain_graph=True)
    kept = first.clone()
    (second,) = torch.autograd.grad(loss, h, retain_graph=True)
    torch.testing.assert_close(first, kept, rtol=0, atol=0)
    torch.testing.assert_close(second, first, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_linear_loss(spec, batch, route, reduction):
    generator = torch.Generator().manual_seed(0)
    target = batch[1][:4]
    x = torch.randn(4, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    w = torch.randn(COUNTS.size, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    b = torch.randn(COUNTS.size, generator=generator, dtype=torch.float64, requires_grad=True)

    def loss(x, w, b):
        seed = torch.Generator().manual_seed(1)
        return linear_spec_loss(x, w, target, spec, b, reduction=reduction, generator=seed)

    # A second backward pass computes anew, and rounds otherwise.
    assert torch.autograd.gradcheck(loss, (x, w, b), nondet_tol=1e-12)
    assert torch.autograd.gradgradcheck(loss, (x, w, b), nondet_tol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        immax_hinge_loss,
        immax_exponential_loss,
        lambda h, y, r: immax_exponential_loss(h, y, r, form="max"),
    ],
)
def test_other_surrogates(function, batch):
    logits, target = batch
    h = (0.3 * logits).requires_grad_()
    rho = torch.linspace(0.5, 1.5, COUNTS.size, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h, r: function(h, target, r), (h, rho))
    assert torch.autograd.gradgradcheck(lambda h, r: function(h, target, r), (h, rho))


def test_binary():
    h = torch.linspace(-3, 3, 7, dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0, 1, 0, 1, 1, 0, 1], dtype=torch.float64)
    rho = torch.tensor([1.4, 0.6], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h, r: immax_binary_loss(h, y, r), (h, rho))
    assert torch.autograd.gradgradcheck(lambda h, r: immax_binary_loss(h, y, r), (h, rho))
