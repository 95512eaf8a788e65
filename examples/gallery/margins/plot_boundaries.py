"""
Boundaries of the SVM, LDAM and IMMAX
=====================================

On separable data the SVM puts its boundary half-way between the classes. LDAM and IMMAX move it,
and they move it in opposite directions: LDAM gives the rare class the larger share of the
geometric margin, IMMAX the frequent class, because its bound is on the error rate, to which
frequent classes contribute most.
"""

import matplotlib.pyplot as plt

from immax.datasets import separable_pair
from immax.theory import hyperplanes

X, y = separable_pair(220, ratio=10, margin=0.6, random_state=3)
found = hyperplanes(X, y)

# %%
# ``hyperplanes`` returns the three solutions. They share their direction, that of the largest
# margin, and differ in their offset.

for name, plane in found.items():
    print(f"{name:6} normal {plane.normal.round(3) + 0}, offset {plane.offset:+.3f}")

# %%
# The class of 20 samples is on the right.

colours = {"SVM": "black", "LDAM": "#cc3311", "IMMAX": "#0077bb"}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(*X[y == 0].T, s=14, color="#7a8794", label="200 samples")
ax.scatter(*X[y == 1].T, s=26, color="#ee7733", label="20 samples")
for name, plane in found.items():
    ax.axline(
        -plane.offset * plane.normal,
        -plane.offset * plane.normal + plane.normal[::-1] * [-1, 1],
        color=colours[name],
        linestyle="--" if name == "LDAM" else "-",
        label=name,
    )
ax.set(xlim=(-2.5, 2.5), xlabel="first feature", ylabel="second feature")
figure.legend(loc="outside right upper")
plt.show()
