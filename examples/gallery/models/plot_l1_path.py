"""
A path of the ℓ1 penalty
========================

``immax.paths.path`` fits models for a decreasing sequence of λ, each started from the one before.
It begins at the smallest λ for which the model is empty.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from immax import IMMAXClassifierCV
from immax.paths import lam_max, path
from immax.plots import plot_coefficient_path

data = load_breast_cancer()
X, y = scale(data.data), data.target
print(f"the model is empty from lambda = {lam_max(X, y):.4f}")

# %%
# A search along the path chooses λ by log-loss.

search = IMMAXClassifierCV(penalty="l1", n_margins=3, scoring="neg_log_loss", random_state=0).fit(
    X, y
)
print(f"lambda {search.best_lam_:.5f}, features {search.n_features_used_} of {X.shape[1]}")

# %%

figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
plot_coefficient_path(path(X, y, n_lams=25), data.feature_names, lam=search.best_lam_, ax=ax)
plt.show()
