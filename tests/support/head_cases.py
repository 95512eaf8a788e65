"""Small networks and data for the tests of heads."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def samples(n=240, c=3, d=4, seed=0):
    """Return features around overlapping centres and labels, the classes of decreasing size."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1, 0.2, c)
    y = np.sort(np.r_[np.repeat(np.arange(c), 8), rng.choice(c, n - 8 * c, p=share / share.sum())])
    y = rng.permutation(y)
    X = rng.standard_normal((n, d)) + 1.5 * np.eye(max(c, d))[y][:, :d]
    return X.astype(np.float32), y


def loader(X, y, **options):
    data = TensorDataset(torch.as_tensor(X), torch.as_tensor(y))
    return DataLoader(data, **{"batch_size": 50, **options})


def network(d=4, c=3, width=6, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Dropout(0.5), nn.Linear(width, c))
