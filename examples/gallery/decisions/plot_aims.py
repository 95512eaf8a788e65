"""
One classifier, several aims
============================

Accuracy, F1, balanced accuracy and Matthews' correlation want different thresholds of the same
probabilities. ``fit_rule`` finds them; the probabilities stay as they are.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax.datasets import load_page_blocks
from immax.decisions import fit_rule
from immax.plots import ThresholdCurveDisplay

X, y = load_page_blocks()
print(y.value_counts().to_dict())

# %%
# Blocks of text against all others: one in ten. Thresholds are chosen on out-of-fold
# probabilities.

positive = (y != y.mode()[0]).to_numpy()
plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
proba = cross_val_predict(plain, X, positive, method="predict_proba", cv=5)
aims = ("accuracy", "f1", "balanced_accuracy", "mcc")
rules = {aim: fit_rule(proba, positive, aim) for aim in aims}
for aim, rule in rules.items():
    print(f"{aim:18} threshold {rule.threshold:.3f}")

# %%

figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for ax, aim in zip(axes.flat, aims, strict=True):
    display = ThresholdCurveDisplay.from_predictions(
        positive, proba[:, 1], aim, chosen=rules[aim].threshold, class_name="other blocks"
    )
    display.plot(ax=ax)
plt.show()
