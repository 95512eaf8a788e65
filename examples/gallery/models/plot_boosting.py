"""
Boosted trees: weights and margins
==================================

``scale_pos_weight`` raises the recall of the positive class and distorts the probabilities.
``IMMAXXGBClassifier`` fits such trees with a decision rule for the aim, and its probabilities stay
those of the data.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from immax.boosting import IMMAXXGBClassifier
from immax.datasets import load_page_blocks
from immax.plots import plot_reliability

X, y = load_page_blocks()
y = (y == "other").astype(int)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, test_size=0.4, random_state=0)
trees = {"n_estimators": 80, "max_depth": 3, "learning_rate": 0.1, "random_state": 0, "n_jobs": 1}

# %%

models = {
    "XGBoost": XGBClassifier(**trees),
    "scale_pos_weight": XGBClassifier(scale_pos_weight=float((y == 0).sum() / y.sum()), **trees),
    "IMMAX, equal margins": IMMAXXGBClassifier(power=0, aim="balanced_accuracy", **trees),
    "IMMAX, power 1/3": IMMAXXGBClassifier(power=1 / 3, aim="balanced_accuracy", **trees),
}
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    proba = model.fit(X, y).predict_proba(X_test)
    balanced = balanced_accuracy_score(y_test, model.predict(X_test))
    print(f"{name:22} balanced accuracy {balanced:.3f}, log-loss {log_loss(y_test, proba):.4f}")
    plot_reliability(y_test, proba, bins=8, name=name, ax=ax)
plt.show()
