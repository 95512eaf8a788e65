"""
Boosted trees on a Dask cluster
===============================

``DaskIMMAXXGBClassifier`` fits to Dask collections on a cluster, with class counts, margins and
the link from all partitions. Here the cluster is a single process.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from immax.datasets import gaussian_mixture
from immax.distributed import DaskIMMAXXGBClassifier

counts = np.array([7600, 400])
X, y, mixture = gaussian_mixture(counts, d=6, separation=2.0, random_state=0)
order = np.random.default_rng(0).permutation(len(y))
rows = da.from_array(X[order], chunks=(2000, -1))
labels = da.from_array(y[order], chunks=2000)

# %%

settings = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
with LocalCluster(**settings) as cluster, Client(cluster) as client:
    model = DaskIMMAXXGBClassifier(n_estimators=30, max_depth=3, client=client)
    model.fit(rows, labels)
    proba = np.asarray(model.predict_proba(rows))[:, 1]
print("margins", model.margins_.round(3), "partitions", rows.npartitions)

# %%
# The true probabilities of this mixture are known.

truth = mixture.posterior(X[order])[:, 1]
print(f"mean error of the probabilities {np.abs(proba - truth).mean():.4f}")
figure, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
ax.plot([0, 1], [0, 1], color="#7a8794", linestyle=":")
ax.scatter(truth, proba, s=4, alpha=0.3, color="#0077bb")
ax.set(xlabel="true probability of the rare class", ylabel="predicted probability")
plt.show()
