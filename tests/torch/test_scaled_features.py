"""Features whose cross-entropy is IMMAX."""

import pytest
import torch
import torch.nn.functional as F

import immax.torch as it
from immax.torch.functional import immax_loss


def case(bias=True):
    torch.manual_seed(0)
    x = torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True)
    layer = torch.nn.Linear(4, 6, bias=bias, dtype=torch.float64)
    target = torch.randint(0, 6, (2, 5))
    target[0, 2] = -100
    return x, layer, target, torch.linspace(0.5, 2, 6, dtype=torch.float64)


@pytest.mark.parametrize("bias", [False, True])
def test_any_cross_entropy_computes_immax(bias):
    x, layer, target, rho = case(bias)
    expected = immax_loss(layer(x).movedim(-1, 1), target, rho)
    inputs = [x, *layer.parameters()]
    gradients = torch.autograd.grad(expected, inputs)
    scaled, weight = it.scale_features(x, target, rho, layer.weight, layer.bias)
    flat, labels = scaled.flatten(0, 1), target.flatten()
    losses = [F.cross_entropy(flat @ weight.T, labels)]
    if hasattr(F, "linear_cross_entropy"):  # of recent releases
        losses.append(F.linear_cross_entropy(flat, weight, labels, ignore_index=-100))
    for loss in losses:
        torch.testing.assert_close(loss, expected, rtol=1e-14, atol=1e-15)
        found = torch.autograd.grad(loss, inputs, retain_graph=True)
        torch.testing.assert_close(found, gradients, rtol=1e-12, atol=1e-14)


def test_bad_arguments_are_named():
    x, layer, target, rho = case()
    with pytest.raises(ValueError, match="target must have shape"):
        it.scale_features(x, target[0], rho)
    with pytest.raises(ValueError, match="weight must have shape"):
        it.scale_features(x, target, rho, layer.weight.T)
    with pytest.raises(ValueError, match="bias needs the weight"):
        it.scale_features(x, target, rho, bias=layer.bias)
    with pytest.raises(IndexError, match="target holds 7"):
        it.scale_features(x, torch.full_like(target, 7), rho)
    with pytest.raises(TypeError, match=r"class numbers, as int64; got torch.float32"):
        it.scale_features(x, target.float(), rho)
    with pytest.raises(ValueError, match=r"rho\[0\] is 0"):
        it.scale_features(x, target, rho * 0)
