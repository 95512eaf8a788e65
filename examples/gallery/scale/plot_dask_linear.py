"""
Logistic IMMAX on Dask collections
==================================

``DaskIMMAXClassifier`` finds the optimum of the same problem as ``IMMAXClassifier``, with the same
certificate, from rows that stay where they are. A few rounds of sums over all partitions suffice.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture
from immax.distributed import DaskIMMAXClassifier

counts = np.array([9000, 900, 100])
X, y, _ = gaussian_mixture(counts, d=8, separation=2.5, random_state=0)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order], y[order]
rows, labels = da.from_array(X, chunks=(2500, -1)), da.from_array(y, chunks=2500)

# %%

settings = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
with LocalCluster(**settings) as cluster, Client(cluster):
    model = DaskIMMAXClassifier(lam=1e-3).fit(rows, labels)
local = IMMAXClassifier(lam=1e-3).fit(X, y)
print(f"rounds {model.n_rounds_}, partitions {rows.npartitions}")
print(f"objective {model.objective_:.8f} with Dask, {local.objective_:.8f} in memory")

# %%

figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
ax.axline((0, 0), slope=1, color="#7a8794", linestyle=":")
for k, colour in enumerate(("#7a8794", "#0077bb", "#ee7733")):
    ax.scatter(local.coef_[k], model.coef_[k], color=colour, label=f"class of {counts[k]}")
ax.set(xlabel="coefficient of the fit in memory", ylabel="coefficient of the fit with Dask")
ax.legend()
plt.show()
