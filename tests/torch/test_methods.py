"""Every method against the appendix's formula in plain loops, and against the NumPy kernel."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS, PARAMS, make

from immax.losses import LossSpec, catalog
from immax.losses.softmax import SoftmaxKernel
from immax.torch.functional import spec_loss


def appendix(method, h, y, dropped):
    """The loss of one sample as the appendix writes it, natural logarithms."""
    m, total = COUNTS, COUNTS.sum()
    p = PARAMS.get(method, {})
    if method == "immax":
        rho = p["total"] * m ** (1 / 3) / (m ** (1 / 3)).sum()
        return math.log(sum(math.exp((hj - h[y]) / rho[y]) for hj in h))
    if method == "ce":
        return -math.log(math.exp(h[y]) / sum(math.exp(hj) for hj in h))
    if method == "rw":
        weight = total / (len(m) * m[y])  # of mean one over the samples
        return -weight * math.log(math.exp(h[y]) / sum(math.exp(hj) for hj in h))
    if method == "bs":
        return -math.log(
            m[y] * math.exp(h[y]) / sum(mj * math.exp(hj) for mj, hj in zip(m, h, strict=True))
        )
    if method == "equal":
        below = 0.0
        for j, hj in enumerate(h):
            rare = m[j] / total < p["threshold"]
            below += (1 - (dropped and rare and j != y)) * math.exp(hj)
        return -math.log(math.exp(h[y]) / below)
    if method == "la":
        tau = p["tau"]
        below = sum(mj**tau * math.exp(hj) for mj, hj in zip(m, h, strict=True))
        return -math.log(m[y] ** tau * math.exp(h[y]) / below)
    if method == "cb":
        weights = 1 / (1 - p["gamma"] ** m)
        weight = weights[y] * total / (m * weights).sum()
        return -weight * math.log(math.exp(h[y]) / sum(math.exp(hj) for hj in h))
    if method == "focal":
        q = math.exp(h[y]) / sum(math.exp(hj) for hj in h)
        return -((1 - q) ** p["gamma"]) * math.log(q)
    if method == "ldam":
        lowered = math.exp(h[y] - p["C"] / m[y] ** 0.25)
        others = sum(math.exp(hj) for j, hj in enumerate(h) if j != y)
        return -math.log(lowered / (lowered + others))
    if method == "vs":
        z = [
            (mj / m.max()) ** p["gamma"] * hj + p["tau"] * math.log(mj / total)
            for mj, hj in zip(m, h, strict=True)
        ]
        return -math.log(math.exp(z[y]) / sum(math.exp(zj) for zj in z))
    if method == "weighted_immax":
        rho = len(m) * m ** p["margin_power"] / (m ** p["margin_power"]).sum()
        weights = m ** -p["weight_power"]
        weight = weights[y] * total / (m * weights).sum()
        return weight * math.log(sum(math.exp((hj - h[y]) / rho[y]) for hj in h))
    raise NotImplementedError(method)


def draws(spec, target, seed):
    """Where the losses drop classes, if their generator has that seed."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(len(target), generator=generator) < spec.drop_rate


@pytest.mark.parametrize("method", list(catalog.METHODS))
def test_equals_the_appendix(method, batch, route):
    logits, target = batch
    spec = make(method)
    found = spec_loss(
        logits.requires_grad_(),
        target,
        spec,
        reduction="none",
        generator=torch.Generator().manual_seed(3),
    )
    dropped = draws(spec, target, 3)
    expected = [
        appendix(method, h, y, d)
        for h, y, d in zip(logits.tolist(), target.tolist(), dropped.tolist(), strict=True)
    ]
    np.testing.assert_allclose(found.tolist(), expected, rtol=1e-12, atol=1e-12)
    if method == "equal":
        assert dropped.any()
        assert not dropped.all()


def test_values_and_gradients_equal_the_numpy_kernel(spec, batch, route):
    logits, target = batch
    logits.requires_grad_()
    seed = torch.Generator().manual_seed(3)
    loss = spec_loss(logits, target, spec, reduction="none", generator=seed)
    loss.sum().backward()
    kernel = SoftmaxKernel(spec, target.numpy(), draws(spec, target, 3).numpy())
    expected, gradient = kernel.loss_gradient(logits.detach().numpy())
    np.testing.assert_allclose(loss.tolist(), expected, rtol=1e-12)
    np.testing.assert_allclose(logits.grad.numpy(), gradient, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("scale", [1e4, 1e-4])
def test_extreme_scores_give_finite_answers(spec, batch, route, scale):
    logits, target = batch
    for dtype in (torch.float32, torch.float64):
        h = (logits * scale).to(dtype).requires_grad_()
        loss = spec_loss(h, target, spec)
        loss.backward()
        assert torch.isfinite(loss)
        assert torch.isfinite(h.grad).all()


def test_temperature_scale_and_all_the_rest_together(batch, route):
    logits, target = batch
    rng = np.random.default_rng(0)
    c = COUNTS.size
    spec = LossSpec(
        rng.uniform(0.5, 2, c),
        scale=rng.uniform(0.5, 2, c),
        offset=rng.standard_normal(c),
        target_offset=rng.uniform(0, 1, c),
        weight=rng.uniform(0.5, 2, c),
        focus=0.5,
    )
    logits.requires_grad_()
    loss = spec_loss(logits, target, spec, reduction="sum")
    loss.backward()
    h, y = logits.detach().numpy(), target.numpy()
    assert loss.item() == pytest.approx(spec.loss(h, y).sum(), rel=1e-12)
    np.testing.assert_allclose(logits.grad.numpy(), spec.gradient(h, y), rtol=1e-11, atol=1e-14)


def test_identities_between_the_methods(batch, route):
    logits, target = batch
    even = np.full(COUNTS.size, 100.0)

    def loss(method, counts, **params):
        return spec_loss(logits, target, catalog.make_spec(method, counts, **params)).item()

    plain = F.cross_entropy(logits, target).item()
    assert loss("la", COUNTS, tau=1.0) == pytest.approx(loss("bs", COUNTS), rel=1e-12)
    assert loss("focal", COUNTS, gamma=0.0) == pytest.approx(plain, rel=1e-12)
    for method in ("rw", "bs", "la", "cb"):
        assert loss(method, even) == pytest.approx(plain, rel=1e-12)


def test_a_spec_of_ones_is_cross_entropy(batch, route):
    logits, target = batch
    ones = LossSpec(np.ones(COUNTS.size))
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    value, expected = spec_loss(ours, target, ones), F.cross_entropy(theirs, target)
    value.backward()
    expected.backward()
    torch.testing.assert_close(value, expected, rtol=1e-14, atol=0)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-16)
