"""
From scores to probabilities
============================

With unequal margins, softmax of the scores is not a probability. The link computes what is: for
two classes in closed form, for more from the stationary distribution of a small Markov chain.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax.links import immax_proba
from immax.margins import power_margins

counts = [900, 90, 10]
rho = power_margins(counts, 1 / 3)
score = np.linspace(-6, 6, 200)
scores = np.column_stack([np.zeros_like(score), np.zeros_like(score), score])

# %%
# The score of the rarest class goes from −6 to 6, and the others stay at zero.

exact = immax_proba(scores, rho)
softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
print("margins", rho.round(3))
print("largest difference", np.abs(exact - softmax).max().round(3))

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, proba, title in zip(axes, (softmax, exact), ("softmax", "the link of IMMAX"), strict=True):
    for k, colour in enumerate(("#7a8794", "#0077bb", "#ee7733")):
        ax.plot(score, proba[:, k], color=colour, label=f"{counts[k]} samples, margin {rho[k]:.2f}")
    ax.set(xlabel="score of the rarest class", title=title)
axes[0].set_ylabel("probability")
axes[1].legend(fontsize="small")
plt.show()
