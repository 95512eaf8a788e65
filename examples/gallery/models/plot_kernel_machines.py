"""
Kernel machines with class margins
==================================

``IMMAXSVC`` is the support vector machine with a margin for each class. With equal margins it is
``SVC``; unequal ones move the boundary, here around a rare class inside a frequent one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from immax import IMMAXSVC
from immax.datasets import step_imbalanced

X, y = make_circles(800, noise=0.16, factor=0.45, random_state=0)
keep = step_imbalanced(y, ratio=8, random_state=0)
X, y = X[keep], y[keep]
print("class counts", np.bincount(y))

# %%
# Powers of the counts: negative ones ask for more confidence on the rare class, and enlarge its
# region.

powers = {"equal margins (SVC)": 0.0, "power 1/3 (theory)": 1 / 3, "power −1/3": -1 / 3}
grid = np.linspace(-1.6, 1.6, 120)
points = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T

figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), sharey=True, layout="constrained")
for ax, (name, power) in zip(axes, powers.items(), strict=True):
    margins = np.bincount(y).astype(float) ** power
    model = IMMAXSVC(C=1.0, margins=margins / margins.mean()).fit(X, y)
    scores = model.decision_function(points).reshape(grid.size, grid.size)
    area = (scores > 0).mean()
    print(f"{name:20} margins {model.margins_.round(2)}, share of the square {area:.3f}")
    ax.contourf(grid, grid, scores, levels=[-np.inf, 0, np.inf], colors=["#dfe7ee", "#fbe3cc"])
    ax.contour(grid, grid, scores, levels=[0], colors="black")
    ax.scatter(*X[y == 0].T, s=6, color="#7a8794")
    ax.scatter(*X[y == 1].T, s=12, color="#ee7733")
    ax.set_title(name)
plt.show()
