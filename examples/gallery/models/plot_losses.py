"""
Nine losses of one family
=========================

Every method of the catalogue is a table of numbers, one or more for each class. These are the
losses of a sample of the rarest of three classes, and of one of the most frequent, as the score of
the rarest class rises. Two of the eleven methods are left out: equalization, which is random, and
IMMAX with class weights.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax.losses import catalog

counts = [900, 90, 10]
score = np.linspace(-3, 5, 120)
scores = np.column_stack([np.zeros_like(score), np.zeros_like(score), score])
names = ("ce", "immax", "rw", "bs", "la", "cb", "focal", "ldam", "vs")

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for place, (ax, label) in enumerate(zip(axes, (2, 0), strict=True)):
    y = np.full(score.size, label)
    for name in names:
        spec = catalog.make_spec(name, counts)
        loss = spec.loss(scores, y)
        if place == 0:
            print(f"{name:6} loss at score 0: {np.interp(0.0, score, loss):.3f}")
        ax.plot(score, loss, label=catalog.METHODS[name].title if place else None)
    ax.set(xlabel="score of the rarest class", ylim=(0.01, 200), yscale="log")
    ax.set_title(f"a sample of the class of {counts[label]}")
axes[0].set_ylabel("loss")
axes[1].legend(fontsize="small", ncols=2)
plt.show()
