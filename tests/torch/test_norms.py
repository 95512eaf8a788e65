"""Norms of a network against NumPy."""

import numpy as np
import pytest
import torch
from torch import nn

from immax.torch.norms import frobenius_complexity, spectral_complexity


def test_against_numpy():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 4))
    A = model[0].weight.detach().reshape(3, -1).numpy().astype(float)
    B = model[3].weight.detach().numpy().astype(float)
    expected = np.sqrt(2) * 2 * np.linalg.norm(A) * np.linalg.norm(B)
    assert frobenius_complexity(model) == pytest.approx(expected, rel=1e-6)
    sigma = [np.linalg.norm(W, 2) for W in (A, B)]
    ratios = [np.linalg.norm(W, axis=1).sum() / s for W, s in zip((A, B), sigma, strict=True)]
    expected = sigma[0] * sigma[1] * sum(r ** (2 / 3) for r in ratios) ** 1.5
    assert spectral_complexity(model) == pytest.approx(expected, rel=1e-6)
    start = {name: module.weight for name, module in model.named_modules() if name in ("0", "3")}
    assert spectral_complexity(model, start) == 0
    for function in (frobenius_complexity, spectral_complexity):
        with pytest.raises(ValueError, match="no linear"):
            function(nn.ReLU())
