"""
Costs and decisions
===================

A missed defect costs twenty times as much as a false alarm. The rule of least expected cost needs
no tuning, only probabilities that can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture
from immax.decisions import Costs, fit_rule

counts = np.array([1900, 100])
X, y, mixture = gaussian_mixture(counts, d=2, separation=2.2, random_state=2)
X_test, y_test = mixture.sample(counts * 20, random_state=3)
model = IMMAXClassifier(margins="equal", lam=1e-4).fit(X, y)
proba, proba_test = model.predict_proba(X), model.predict_proba(X_test)

# %%
# The rule says in words what it does.

rule = fit_rule(proba, y, Costs({0: 1, 1: 20}), classes=model.classes_)
print(rule)

# %%
# The mean cost of new samples is lowest near the threshold of the rule, 1/21.

thresholds = np.linspace(0.005, 0.6, 120)
said = proba_test[:, 1] >= thresholds[:, None]
missed = (~said & (y_test == 1)).mean(axis=1)
alarms = (said & (y_test == 0)).mean(axis=1)
mean_cost = 20 * missed + alarms
best = thresholds[mean_cost.argmin()]
print(f"best threshold of the test samples {best:.3f}, of the rule {rule.threshold:.3f}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(thresholds, mean_cost, color="black", label="mean cost")
ax.plot(thresholds, 20 * missed, color="#cc3311", label="of missed defects")
ax.plot(thresholds, alarms, color="#0077bb", label="of false alarms")
ax.axvline(rule.threshold, color="#7a8794", linestyle="--", label="the rule")
ax.axvline(0.5, color="#7a8794", linestyle=":", label="the most probable class")
ax.set(xlabel="threshold of the probability", ylabel="cost per sample")
ax.legend()
plt.show()
