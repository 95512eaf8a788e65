"""The focal factor in PyTorch: against NumPy, and with a slope everywhere."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from immax.losses.focal import focal_slope  # noqa: E402
from immax.torch.focal import focal_loss_of, focal_terms  # noqa: E402


@pytest.mark.parametrize("focus", [0.5, 1.0, 2.0])
def test_loss_and_slope(focus):
    nll = torch.tensor([1e-6, 0.1, 0.7, 3.0, 20.0], dtype=torch.float64, requires_grad=True)
    rest = -torch.expm1(-nll.detach())
    loss = focal_loss_of(nll, focus)
    torch.testing.assert_close(loss.detach(), rest**focus * nll.detach())
    (gradient,) = torch.autograd.grad(loss.sum(), nll)
    value, slope = focal_terms(nll.detach(), focus)
    torch.testing.assert_close(value, loss.detach())
    torch.testing.assert_close(slope, gradient)
    expected = focal_slope(nll.detach().numpy(), rest.numpy(), focus)
    np.testing.assert_allclose(slope.numpy(), expected)


def test_a_certain_sample_has_a_finite_slope():
    nll = torch.zeros(3, requires_grad=True)
    focal_loss_of(nll, 0.5).sum().backward()
    assert torch.isfinite(nll.grad).all()
