"""
A network with a refitted head
==============================

A network is trained until it fits its long-tailed training set, and is then overconfident.
``refit_head`` replaces its last layer by an exact fit to the features, with λ and margins chosen on
held-out samples.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from immax.datasets import gaussian_mixture
from immax.torch import refit_head

counts = np.array([600, 120, 24])
X, y, mixture = gaussian_mixture(counts, d=20, separation=2.5, random_state=0)
held_out, test = (mixture.sample(counts * k, random_state=k) for k in (1, 10))


def tensors(features, labels):
    """Return a sample as tensors."""
    return torch.from_numpy(features).float(), torch.from_numpy(labels)


(X, y), held_out, (X_test, y_test) = tensors(X, y), tensors(*held_out), tensors(*test)

# %%

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
for _ in range(250):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(X), y).backward()
    optimizer.step()
refitted = copy.deepcopy(network)
head = refit_head(refitted, DataLoader(TensorDataset(*held_out), batch_size=256))

# %%

with torch.no_grad():
    probabilities = {
        "as trained": network(X_test).softmax(dim=1),
        "refitted head": head.proba(refitted(X_test)),
    }
for name, proba in probabilities.items():
    nll = -proba.gather(1, y_test[:, None]).log().mean()
    hits = (proba.argmax(dim=1) == y_test).double().mean()
    print(f"{name:14} accuracy {hits:.3f}, log-loss {nll:.3f}")

# %%
# The probability that each network gives to the true class of new samples.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True, layout="constrained")
for k, ax in enumerate(axes):
    for name, colour in (("as trained", "#cc3311"), ("refitted head", "#0077bb")):
        own = probabilities[name][y_test == k, k].numpy()
        ax.hist(own, bins=20, range=(0, 1), density=True, histtype="step", color=colour, label=name)
    ax.set(title=f"class of {counts[k]}", xlabel="probability of the true class")
axes[0].set_ylabel("density")
axes[0].legend(loc="upper left")
plt.show()
