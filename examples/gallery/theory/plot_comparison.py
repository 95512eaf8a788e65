"""
Reading the report of a comparison
==================================

``immax compare`` writes an HTML report. This example makes its main parts in Python: the sentence
that says what to use, the gain of every method over logistic regression with intervals, the
reliability of the probabilities, precision and recall of the rarest class, and the net benefit.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax.compare import Protocol, answer, compare
from immax.datasets import load_page_blocks
from immax.plots import (
    ReliabilityDisplay,
    plot_comparison,
    plot_decision_curve,
    plot_precision_recall,
)

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

# %%
# The other figures are about the rarest class, on the test rows of all folds. Class weights move
# its probabilities away from the diagonal of the reliability diagram; in ``immax compare`` that has
# no effect on the decisions, because every method decides by a rule that is fitted to the metric.

rarest = int(comparison.counts.argmin())
name = comparison.class_names[rarest]
pooled = {row.title: comparison.pooled(row.name) for row in verdict.rows}

figure, axes = plt.subplots(1, len(pooled), figsize=(11, 3.2), layout="constrained")
for ax, (title, (codes, _, proba)) in zip(axes, pooled.items(), strict=True):
    ReliabilityDisplay.from_class(codes, proba, rarest, name=title, class_name=name).plot(ax)
plt.show()

# %%
# Curves that coincide belong to methods that rank the rows alike. The net benefit compares the
# probabilities as they are, for every ratio of the costs of a miss and of a false alarm.

truth = next(iter(pooled.values()))[0] == rarest
scores = {title: proba[:, rarest] for title, (_, _, proba) in pooled.items()}
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
plot_precision_recall(truth, scores, class_name=name, ax=axes[0])
plot_decision_curve(truth, scores, class_name=name, ax=axes[1])
plt.show()
