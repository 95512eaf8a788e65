"""
A network with class margins
============================

A small network is trained until it fits every sample of a long-tailed set, once for each power of
the margins. Power 0 is cross-entropy; probabilities come from the loss, not from ``softmax``.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from immax.datasets import gaussian_mixture
from immax.torch import IMMAXLoss

counts = np.array([600, 120, 24])
X, y, mixture = gaussian_mixture(counts, d=30, separation=2.5, random_state=0)
X_test, y_test = mixture.sample(counts * 10, random_state=1)
X, X_test = (torch.from_numpy(part).float() for part in (X, X_test))
y, y_test = torch.from_numpy(y), torch.from_numpy(y_test)

# %%


def train(criterion):
    """Return the logits of the training and of the test samples."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    for _ in range(300):
        optimizer.zero_grad()
        criterion(network(X), y).backward()
        optimizer.step()
    with torch.no_grad():
        return network(X), network(X_test)


powers = (-1 / 3, 0.0, 1 / 3, 1 / 2)
losses, recalls = [], []
for power in powers:
    criterion = IMMAXLoss(counts=counts.tolist(), power=power)
    fitted, logits = train(criterion)
    losses.append(float(nn.functional.nll_loss(criterion.log_proba(logits), y_test)))
    hits = logits.argmax(dim=1) == y_test
    recalls.append([float(hits[y_test == k].double().mean()) for k in range(3)])
    error = float((fitted.argmax(dim=1) != y).double().mean())
    print(f"power {power:+.2f}: training error {error:.3f}, log-loss {losses[-1]:.3f}")

# %%
# Margins shift recall between the classes. The log-loss is best near equal margins here: whether
# others help depends on the data, so search the power, with 0 among its values.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot(powers, losses, "o-", color="#0077bb")
axes[0].axvline(0, color="#7a8794", linestyle=":")
axes[0].set(xlabel="power of the margins", ylabel="log-loss on new samples")
for k, colour in enumerate(("#7a8794", "#0077bb", "#ee7733")):
    axes[1].plot(powers, np.array(recalls)[:, k], "o-", color=colour, label=f"{counts[k]} samples")
axes[1].set(xlabel="power of the margins", ylabel="recall", ylim=(0, 1))
axes[1].legend(loc="lower right")
plt.show()
