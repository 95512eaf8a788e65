"""The quick code of IMMAX against the general one."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS

import immax.torch as it
from immax.torch import quick, routes
from immax.torch.functional import immax_loss

C = COUNTS.size
RHO = it.IMMAXLoss(COUNTS, dtype=torch.float64).rho


@pytest.fixture(params=["operations", "function", "compiled"])
def known(request, monkeypatch):
    """Return margins that are known to be valid, for all ways to compute the loss."""
    fewest = 0 if request.param == "function" else 2**60
    monkeypatch.setattr(routes, "FEWEST_OF_QUICK_FUNCTION", fewest)
    monkeypatch.setattr(routes, "FEWEST_OF_QUICK_COMPILED", 0)
    monkeypatch.setattr(routes, "has_numba", lambda: request.param == "compiled")
    if request.param == "compiled":
        pytest.importorskip("numba")
    rho = RHO.clone()
    immax_loss(torch.zeros(1, C, dtype=torch.float64), torch.tensor([0]), rho)
    return rho


def quick_loss(logits, target, rho, ignore_index=-100, reduction="mean"):
    """Return the loss by the quick route that is chosen; None if there is none."""
    route = routes.choose_quick_route(logits, target, rho, ignore_index, reduction)
    return None if route is None else quick.quick_loss(route, logits, target, rho, reduction)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_value_and_gradients(batch, known, reduction):
    logits, target = batch
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    found = quick_loss(ours, target, known, -100, reduction)
    expected = F.cross_entropy(theirs / known[target][:, None], target, reduction=reduction)
    torch.testing.assert_close(found, expected)
    upstream = torch.rand_like(found)
    found.backward(upstream, retain_graph=True)
    found.backward(upstream)
    expected.backward(2 * upstream)
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_the_gradient_of_the_loss_itself(batch, known):
    """Without a factor, which compiled code need not multiply with."""
    logits, target = batch
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    quick_loss(ours, target, known, -100, "mean").backward()
    F.cross_entropy(theirs / known[target][:, None], target).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)
    columns = logits.T.contiguous().T.requires_grad_()  # another layout in memory
    quick_loss(columns, target, known, -100, "mean").backward()
    torch.testing.assert_close(columns.grad, theirs.grad)


@pytest.mark.filterwarnings("ignore:Please use `torch.vmap`:FutureWarning")  # of PyTorch 2.4 itself
def test_second_derivatives_and_batches_of_gradients(batch, known):
    logits, target = batch[0][:3].requires_grad_(), batch[1][:3]

    def loss(h):
        return quick_loss(h, target, known, -100, "mean")

    assert torch.autograd.gradcheck(loss, (logits,), check_batched_grad=True, nondet_tol=1e-12)
    assert torch.autograd.gradgradcheck(loss, (logits,), nondet_tol=1e-12)


def test_extreme_scores(batch, known):
    logits = (1e4 * batch[0]).requires_grad_()
    loss = quick_loss(logits, batch[1], known, -100, "mean")
    torch.testing.assert_close(loss, immax_loss(logits, batch[1], known.clone()))
    logits.data[0, 0] = torch.nan
    assert quick_loss(logits, batch[1], known, -100, "mean").isnan()


def test_any_other_case_is_left_to_the_general_code(batch, known):
    logits, target = batch
    arguments = {
        "logits": logits,
        "target": target,
        "rho": known,
        "ignore_index": -100,
        "reduction": "mean",
    }
    arguments["logits"] = logits = logits.clone().requires_grad_()
    ignored = target.clone()
    ignored[0] = -100
    for change in (
        {"logits": logits.float()},
        {"logits": logits[:0], "target": target[:0]},
        {"logits": logits[0], "target": target[0]},
        {"target": target.int()},
        {"target": target[:3]},
        {"target": ignored},
        {"target": target + C},
        {"rho": known.clone()},
        {"rho": torch.ones(C, dtype=torch.float64)},
        {"rho": known[:3]},
        {"ignore_index": 2},
        {"reduction": "average"},
    ):
        assert quick_loss(**(arguments | change)) is None
    assert quick_loss(**arguments) is not None
    known.data[0] = 3.0  # an edit that PyTorch does not count
    torch.testing.assert_close(quick_loss(**arguments), immax_loss(logits, target, known.clone()))
    known[0] = -1.0
    assert quick_loss(**arguments) is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("n", [8, 1000])
def test_half_precision_is_computed_in_single(dtype, n):
    """In the second call too, for which the margins are known."""
    generator = torch.Generator().manual_seed(0)
    logits = (5 * torch.randn(n, 100, generator=generator)).to(dtype).requires_grad_()
    target = torch.randint(0, 100, (n,), generator=generator)
    criterion = it.IMMAXLoss(np.geomspace(5000, 5, 100)).to(dtype)
    rho = criterion.rho.float()
    expected = F.cross_entropy(logits.detach().float() / rho[target][:, None], target)
    for _ in range(2):
        loss = criterion(logits, target)
        loss.backward()
        assert loss == expected.to(dtype)


@pytest.mark.parametrize("method", ["IMMAXLoss", "LogitAdjustedLoss"])
def test_the_loss_is_where_the_logits_are(method):
    """Whatever the default device is."""
    logits, target = torch.zeros(2000, 100, requires_grad=True), torch.zeros(2000).long()
    criterion = getattr(it, method)(np.geomspace(5000, 5, 100))
    expected = criterion(logits, target)
    with torch.device("meta"):
        found = criterion(logits, target)
    assert found.device == logits.device
    assert found == expected


def test_views_that_negate_are_read_as_such():
    logits = torch.view_as_complex(torch.randn(2000, 100, 2)).conj().imag.requires_grad_()
    target = torch.zeros(2000).long()
    criterion = it.IMMAXLoss(np.geomspace(5000, 5, 100))
    expected = criterion(logits.detach().clone(), target)
    assert logits.is_neg()
    torch.testing.assert_close(criterion(logits, target), expected)


@pytest.mark.parametrize("columns", [300, 900])
def test_large_batches_of_single_precision(columns):
    """In the numbers of entries at which compiled code has one thread, and several."""
    pytest.importorskip("numba")
    generator = torch.Generator().manual_seed(0)
    logits = 5 * torch.randn(1000, columns, generator=generator)
    target = torch.randint(0, columns, (1000,), generator=generator)
    criterion = it.IMMAXLoss(np.geomspace(5000, 5, columns))
    ours, theirs = logits.clone().requires_grad_(), logits.double().requires_grad_()
    loss = criterion(ours, target)
    loss.backward()
    assert type(loss.grad_fn).__name__ == "_CompiledMeanBackward"
    rho = criterion.rho.double()
    expected = F.cross_entropy(theirs / rho[target][:, None], target)
    expected.backward()
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-5, atol=1e-10)


def test_modules_use_it(batch, monkeypatch):
    logits, target = batch
    criterion = it.IMMAXLoss(COUNTS, dtype=torch.float64)
    expected = criterion(logits, target).item()
    monkeypatch.setattr(quick, "cross_entropy_loss", lambda *_: torch.tensor(np.pi))
    assert criterion(logits, target).item() == pytest.approx(np.pi)
    target[0] = -100
    assert criterion(logits, target).item() == pytest.approx(expected, rel=1)
