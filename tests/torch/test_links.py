"""Probabilities and decisions on the device against ``immax.links``."""

import numpy as np
import pytest
import torch

from immax import links as reference
from immax.torch import links


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("c", [2, 3, 10, 40])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_equals_the_numpy_link(loss, c, scale):
    rng = np.random.default_rng(0)
    h = scale * rng.standard_normal((30, c))
    rho = rng.uniform(0.5, 2, 5)[np.arange(c) % 5]
    found = links.immax_proba(torch.tensor(h), torch.tensor(rho), loss).numpy()
    np.testing.assert_allclose(found, reference.immax_proba(h, rho, loss), rtol=1e-9, atol=1e-200)


def test_extreme_scores_and_shapes():
    rng = np.random.default_rng(0)
    h = torch.tensor(1e4 * rng.standard_normal((3, 4, 2, 5)))
    rho = torch.tensor([0.5, 1.0, 1.5, 2.0], dtype=torch.float64)
    p = links.immax_proba(h, rho)
    assert p.shape == h.shape
    torch.testing.assert_close(p.sum(1), torch.ones(3, 2, 5, dtype=torch.float64))
    one = links.immax_proba(h[0, :, 1, 2], rho)
    torch.testing.assert_close(one, p[0, :, 1, 2])
    assert links.immax_proba(h[:0], rho).shape == (0, 4, 2, 5)


def test_blocks_change_nothing(monkeypatch):
    h, rho = torch.randn(50, 6), torch.rand(6) + 0.5
    whole = links.immax_proba(h, rho)
    monkeypatch.setattr(links, "BLOCK_ENTRIES", 100)
    torch.testing.assert_close(links.immax_proba(h, rho), whole)


def test_half_precision_is_computed_in_single():
    h, rho = torch.randn(50, 6), torch.rand(6) + 0.5
    p = links.immax_proba(h.bfloat16(), rho)
    assert p.dtype == torch.bfloat16
    torch.testing.assert_close(
        p.float(), links.immax_proba(h.bfloat16().float(), rho), atol=4e-3, rtol=0
    )
