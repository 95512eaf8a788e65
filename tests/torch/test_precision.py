"""Half precision: no worse than cross-entropy in the same dtype, against a truth in float64."""

import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS, make

from immax.losses import catalog
from immax.torch.functional import spec_loss

C = COUNTS.size


def error(loss, logits, target, dtype):
    """Largest errors of losses and gradients, relative to the largest true ones."""
    exact = logits.double().requires_grad_()
    rough = logits.clone().requires_grad_()
    assert rough.dtype == dtype
    truth, found = loss(exact, target), loss(rough, target)
    assert found.dtype == dtype
    truth.sum().backward()
    found.sum().backward()
    value = (found.double() - truth).abs().max() / truth.abs().max()
    slope = (rough.grad.double() - exact.grad).abs().max() / exact.grad.abs().max()
    return value.item(), slope.item()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("method", [m for m in catalog.METHODS if m != "equal"])
@pytest.mark.parametrize("rows", [64, 4000])
def test_errors_are_bounded_by_those_of_cross_entropy(method, dtype, rows):
    generator = torch.Generator().manual_seed(0)
    logits = (3 * torch.randn(rows, C, generator=generator)).to(dtype)
    target = torch.randint(0, C, (rows,), generator=generator)
    spec = make(method)

    def ours(h, y):
        return spec_loss(h, y, spec, reduction="none")

    def theirs(h, y):
        return F.cross_entropy(h, y, reduction="none")

    found, bound = (error(loss, logits, target, dtype) for loss in (ours, theirs))
    # A rounding of the result is the least that there can be.
    half_unit = torch.finfo(dtype).eps / 2
    assert found[0] <= max(bound[0], half_unit)
    assert found[1] <= max(bound[1], half_unit)


def test_float32_is_as_exact_as_cross_entropy(batch, route):
    logits, target = batch
    logits = logits.float()

    def ours(h, y):
        return spec_loss(h, y, make("ce"), reduction="none")

    def theirs(h, y):
        return F.cross_entropy(h, y, reduction="none")

    found, bound = (error(loss, logits, target, torch.float32) for loss in (ours, theirs))
    unit = torch.finfo(torch.float32).eps
    assert found[0] <= max(bound[0], 2 * unit)
    assert found[1] <= max(bound[1], 2 * unit)


# PyTorch's own operations round it to zero.
@pytest.mark.parametrize("route", ["compiled"], indirect=True)
def test_tiny_losses_keep_their_digits(route):
    h = torch.tensor([[30.0, 0.0, -5.0, 0.0, 0.0]], requires_grad=True)
    loss = spec_loss(h, torch.tensor([0]), make("ce"))
    assert loss.item() == pytest.approx(3 * 9.3576e-14 + 6.3e-16, rel=1e-3)
    loss.backward()
    assert h.grad[0, 0].item() == pytest.approx(-loss.item(), rel=1e-5)
