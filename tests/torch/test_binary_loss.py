"""Two classes on one logit: the loss, its probabilities and its decisions."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar

import immax.torch as it
from immax import links


def test_binary_loss():
    h, y = torch.randn(20, dtype=torch.float64), torch.randint(0, 2, (20,)).double()
    same = it.IMMAXBinaryLoss(alpha=0.5, dtype=torch.float64)
    torch.testing.assert_close(same(h, y), F.binary_cross_entropy_with_logits(h, y))
    soft = torch.rand(20, dtype=torch.float64)
    torch.testing.assert_close(same(h, soft), F.binary_cross_entropy_with_logits(h, soft))
    criterion = it.IMMAXBinaryLoss(alpha=0.2, total=1, dtype=torch.float64)
    expected = torch.where(y == 1, F.softplus(-h / 0.2), F.softplus(h / 0.8)).mean()
    torch.testing.assert_close(criterion(h, y), expected)
    two = it.IMMAXLoss([900, 100], total=1, dtype=torch.float64)
    one = it.IMMAXBinaryLoss([900, 100], total=1, dtype=torch.float64)
    scores = torch.stack([-h / 2, h / 2], 1)
    torch.testing.assert_close(one.proba(h), two.proba(scores)[:, 1])
    assert one.proba(torch.tensor([0.0], dtype=torch.float64)).item() == pytest.approx(
        1 / (1 + 9 ** (1 / 3))
    )
    assert one.predict(torch.tensor([0.1, -0.1])).tolist() == [1, 0]
    zero = torch.zeros(1, dtype=torch.float64)
    assert one.predict(zero, rule="bayes").tolist() == [0]
    assert one.predict(zero, rule="bayes", costs=[1.0, 10.0]).tolist() == [1]


def conditional_minimiser(p, rho):
    """Minimise ``p Psi(h / rho_1) + (1 - p) Psi(-h / rho_0)`` over h by brute force."""

    def risk(h):
        return p * np.logaddexp(0, -h / rho[1]) + (1 - p) * np.logaddexp(0, h / rho[0])

    return minimize_scalar(risk, bounds=(-60, 60), method="bounded", options={"xatol": 1e-9}).x


@pytest.mark.parametrize("total", [None, 1, 5.0])
@pytest.mark.parametrize("counts", [[900, 100], [100, 900], [7, 7]])
def test_probabilities_invert_the_conditional_risk(counts, total):
    criterion = it.IMMAXBinaryLoss(counts, total=total, dtype=torch.float64)
    rho = criterion.rho.numpy()
    assert rho.sum() == pytest.approx(2 if total is None else total)
    p = np.linspace(0.02, 0.98, 25)
    h = np.array([conditional_minimiser(one, rho) for one in p])
    np.testing.assert_allclose(criterion.proba(torch.tensor(h)).numpy(), p, atol=1e-6)
    # The reference takes two columns of scores whose difference is h.
    scores = np.stack([-h / 2, h / 2], axis=1)
    np.testing.assert_allclose(links.immax_proba(scores, rho)[:, 1], p, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: it.IMMAXBinaryLoss(), "counts, labels, dataset and alpha"),
        (lambda: it.IMMAXBinaryLoss(alpha=1.0), "alpha must be"),
        (lambda: it.IMMAXBinaryLoss([1, 2, 3]), "two classes"),
        (lambda: it.IMMAXBinaryLoss([1, 2], loss="square"), "loss must be"),
        (lambda: it.IMMAXBinaryLoss(labels=[0, 2]), "num_classes is 2"),
        (lambda: it.IMMAXBinaryLoss(alpha=0.5)(torch.zeros(2), torch.zeros(3)), "target must"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["logistic", "hinge", "exponential"])
def test_the_surrogates_on_one_logit(name):
    h = np.linspace(-3, 3, 14)
    y = np.arange(14) % 2
    criterion = it.IMMAXBinaryLoss([900, 100], loss=name, reduction="none", dtype=torch.float64)
    rho = criterion.rho.numpy()
    u = np.where(y == 1, h / rho[1], -h / rho[0])
    psi = {
        "logistic": np.log1p(np.exp(-u)),
        "hinge": np.maximum(0, 1 - u),
        "exponential": np.exp(-u),
    }
    found = criterion(torch.tensor(h), torch.tensor(y))
    np.testing.assert_allclose(found, psi[name], rtol=1e-12)
    if name == "hinge":
        with pytest.raises(ValueError, match="calibrate"):
            criterion.proba(torch.tensor(h))
    else:
        expected = links.immax_proba(h, rho, name)[:, 1]
        np.testing.assert_allclose(criterion.proba(torch.tensor(h)), expected, rtol=1e-12)
