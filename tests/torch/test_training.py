"""A small network on the long-tailed digits learns with every loss, the same way each time."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

import immax.torch as it
from immax.datasets import long_tailed

LOSSES = {
    "IMMAXLoss": it.IMMAXLoss,
    "hinge": it.IMMAXHingeLoss,
    "exponential": it.IMMAXExponentialLoss,
    "learnable": lambda counts: it.IMMAXLoss(counts, learnable=True),
    "CrossEntropyLoss": it.CrossEntropyLoss,
    "BalancedSoftmaxLoss": it.BalancedSoftmaxLoss,
    "ReweightedLoss": it.ReweightedLoss,
    "EqualizationLoss": lambda counts: it.EqualizationLoss(counts, threshold=0.03),
    "LogitAdjustedLoss": it.LogitAdjustedLoss,
    "ClassBalancedLoss": it.ClassBalancedLoss,
    "FocalLoss": it.FocalLoss,
    "LDAMLoss": it.LDAMLoss,
    "VectorScalingLoss": it.VectorScalingLoss,
}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, 10, random_state=0)
    X = torch.tensor(X[keep] / 16, dtype=torch.float32)
    return X, torch.tensor(y[keep])


def train(make, X, y, epochs=12):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    criterion = make(it.class_counts(y))
    parameters = [*model.parameters(), *criterion.parameters()]
    optimizer = torch.optim.Adam(parameters, 0.01)
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(64):
            optimizer.zero_grad()
            criterion(model(X[rows]), y[rows]).backward()
            optimizer.step()
    return model


@pytest.mark.parametrize("name", LOSSES)
def test_learns_and_repeats(name, digits):
    X, y = digits
    model = train(LOSSES[name], X, y)
    accuracy = (model(X).argmax(1) == y).float().mean().item()
    assert accuracy > 0.93
    first, again = (train(LOSSES[name], X[:320], y[:320], epochs=1) for _ in range(2))
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)


def test_probabilities_of_a_network_are_about_right(digits):
    X, y = digits
    model = train(it.IMMAXLoss, X, y)
    p = it.IMMAXLoss(it.class_counts(y)).proba(model(X)).detach().numpy()
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(p.mean(axis=0), share, atol=0.02)
