"""The last layer fused with the loss, against the layer and the loss."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS

from immax.torch import linear, linear_immax_loss, linear_spec_loss
from immax.torch.functional import immax_loss, spec_loss

C = COUNTS.size


def layer(rows=(23,), d=4, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(*rows, d, generator=generator, dtype=dtype)
    w = torch.randn(C, d, generator=generator, dtype=dtype)
    b = torch.randn(C, generator=generator, dtype=dtype)
    y = torch.randint(0, C, rows, generator=generator)
    return x, w, b, y


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(linear, "BLOCK_ENTRIES", 10 * C)  # ten rows at a time


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_equals_the_two_steps(spec, reduction, route):
    x, w, b, y = layer()
    y[::5] = -100
    weights = torch.linspace(0.5, 2, C, dtype=torch.float64)
    upstream = torch.randn(y.shape if reduction == "none" else (), dtype=torch.float64)
    for bias, weight in product((False, True), (None, weights)):
        results = []
        for fused in (True, False):
            inputs = [t.clone().requires_grad_() for t in ([x, w, b] if bias else [x, w])]
            seed = torch.Generator().manual_seed(2)
            options = {"reduction": reduction, "generator": seed}
            if fused:
                rest = inputs[2] if bias else None
                loss = linear_spec_loss(*inputs[:2], y, spec, rest, weight, **options)
            else:
                loss = spec_loss(F.linear(*inputs), y, spec, weight, **options)
            loss.backward(upstream)
            results.append([loss.detach(), *(t.grad for t in inputs)])
        for found, expected in zip(*results, strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_sequences_keep_their_shape(route):
    x, w, b, y = layer((2, 5))
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)
    found = linear_immax_loss(x, w, y, rho, b, reduction="none")
    expected = immax_loss(F.linear(x, w, b).movedim(-1, 1), y, rho, reduction="none")
    torch.testing.assert_close(found, expected)


def test_only_the_wanted_gradients(route):
    x, w, b, y = layer()
    rho = torch.ones(C, dtype=torch.float64)
    linear_immax_loss(x, w.requires_grad_(), y, rho, b).backward()
    assert x.grad is None
    assert b.grad is None
    assert w.grad.any()


def test_a_retained_graph(route):
    x, w, b, y = layer()
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)
    loss = linear_immax_loss(x.requires_grad_(), w.requires_grad_(), y, rho, b)
    first = torch.autograd.grad(loss, [x, w], retain_graph=True)
    second = torch.autograd.grad(loss, [x, w])
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_and_autocast(dtype):
    x, w, b, y = layer(dtype=torch.float32)
    rho = torch.linspace(0.5, 1.5, C)
    exact = linear_immax_loss(x, w, y, rho, b)
    half = [t.to(dtype).requires_grad_() for t in (x, w, b)]
    loss = linear_immax_loss(half[0], half[1], y, rho, half[2])
    loss.backward()
    assert loss.dtype == half[1].grad.dtype == dtype
    assert loss.item() == pytest.approx(exact.item(), rel=0.05)
    with torch.autocast("cpu", dtype=dtype):
        mixed = linear_immax_loss(x.requires_grad_(), w, y, rho, b)
    mixed.backward()
    assert mixed.dtype == torch.float32
    assert x.grad.dtype == torch.float32
    assert mixed.item() == pytest.approx(exact.item(), rel=0.05)


@pytest.mark.filterwarnings("ignore")
def test_compiles_as_one_graph():
    x, w, b, y = layer()
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)
    torch._dynamo.reset()
    compiled = torch.compile(linear_immax_loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, w, y, rho, b), linear_immax_loss(x, w, y, rho, b))


def test_empty_batch():
    x, w, b, y = layer((0,))
    loss = linear_immax_loss(x.requires_grad_(), w, y, torch.ones(C, dtype=torch.float64), b)
    assert loss.isnan()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"features": torch.zeros(23, 3)}, ValueError, "features must have shape"),
        ({"rho": torch.ones(2)}, ValueError, r"rho must have shape \(5,\)"),
        ({"target": torch.zeros(4, dtype=torch.long)}, ValueError, "target must have shape"),
        ({"target": torch.full((23,), 9)}, IndexError, "target holds 9"),
        ({"target": torch.zeros(23)}, TypeError, "target must hold class numbers"),
        ({"reduction": "avg"}, ValueError, "reduction must be one of"),
        ({"class_weight": torch.ones(3)}, ValueError, "class_weight must have shape"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    x, w, _, y = layer(dtype=torch.float32)
    arguments = {"features": x, "weight": w, "target": y, "rho": torch.ones(C)}
    with pytest.raises(error, match=message):
        linear_immax_loss(**(arguments | change))


def test_a_batch_of_nothing_but_ignored_labels_has_no_gradient(route):
    x, w, _, y = layer()
    rho = torch.ones(C, dtype=torch.float64)
    loss = linear_immax_loss(x.requires_grad_(), w.requires_grad_(), torch.full_like(y, -100), rho)
    (loss * 65536).backward()
    assert not x.grad.any()
    assert not w.grad.any()


def test_half_precision_does_not_overflow_in_sums():
    x = (300 * torch.randn(2048, 8)).abs().half()
    w = torch.zeros(3, 8).half().requires_grad_()
    linear_immax_loss(x, w, torch.zeros(2048, dtype=torch.long), torch.ones(3)).backward()
    assert torch.isfinite(w.grad).all()


def test_a_single_sample_without_a_batch():
    x, w, b, y = layer((1,))
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)
    alone = linear_immax_loss(x[0], w, y[0], rho, b)
    torch.testing.assert_close(alone, linear_immax_loss(x, w, y, rho, b))


def test_margins_must_be_positive():
    x, w, _, y = layer(dtype=torch.float32)
    with pytest.raises(ValueError, match=r"rho\[2\] is 0.0; it must be a positive"):
        linear_immax_loss(x, w, y, torch.tensor([1.0, 1, 0, 1, 1]))
