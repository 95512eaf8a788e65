"""
The margins that the theory prescribes
======================================

For separable data the bound on the error is smallest when the margin of a class grows with the
cube root of its count. For the balanced error, in which every class counts the same, the order is
reversed.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax.margins import power_margins, theory_margins

counts = np.array([5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50])
margins = {
    "equal: cross-entropy": power_margins(counts, 0),
    "theory, for the error rate": theory_margins(counts),
    "theory, for the balanced error": theory_margins(counts, costs=1 / counts),
}

# %%
# Margins have mean one, so that equal margins are plain logistic regression with the same penalty.

for name, rho in margins.items():
    print(f"{name:31} {rho.round(2)}  mean {rho.mean():.2f}")

# %%

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
styles = (("#7a8794", "o"), ("#0077bb", "s"), ("#ee7733", "D"))
for (name, rho), (colour, marker) in zip(margins.items(), styles, strict=True):
    ax.plot(counts, rho, color=colour, marker=marker, label=name)
ax.set(xscale="log", xlabel="samples of the class", ylabel="margin", ylim=(0, None))
ax.invert_xaxis()
ax.legend()
plt.show()
