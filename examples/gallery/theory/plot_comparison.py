"""
Reading the report of a comparison
==================================

``immax compare`` writes an HTML report. This example makes its parts in Python: the gain of every
method over logistic regression with intervals, and the sentence that says what to use.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax.compare import Protocol, answer, compare
from immax.datasets import load_page_blocks
from immax.plots import plot_comparison

X, y = load_page_blocks()
rows = np.random.default_rng(0).permutation(len(X))[:1500]
X, y = X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)

# %%
# Every method sees the same folds, and tunes itself within the training part of each of them.

protocol = Protocol(folds=3, metric="balanced_accuracy")
comparison = compare(X, y, methods=["weights", "threshold", "immax"], protocol=protocol)
verdict = answer(comparison)
print(verdict.sentence)

# %%
# An interval that includes zero means that the method may be no better than logistic regression.

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
plot_comparison(verdict, ax=ax)
plt.show()
