"""Predicted against true probabilities: boosting with margins, and with class weights.

python examples/boosting_calibration.py [FILE.svg]

Needs the extras boosting and report.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure
from xgboost import XGBClassifier

from immax.boosting import IMMAXXGBClassifier
from immax.datasets import gaussian_mixture
from immax.evaluation.metrics import expected_calibration_error

COUNTS = [6000, 600, 200]
PARAMS = {"n_estimators": 40, "max_depth": 3, "learning_rate": 0.1}


def main() -> None:
    """Fit three models, print their errors and draw their probabilities."""
    X, y, mixture = gaussian_mixture(COUNTS, 4, 2.0, random_state=0)
    test, labels = mixture.sample(COUNTS, random_state=1)
    true = mixture.posterior(test)
    weight = (1 / np.bincount(y))[y] * len(y) / len(COUNTS)
    models = {
        "XGBoost's own objective": XGBClassifier(**PARAMS).fit(X, y),
        "IMMAX, the theory's margins": IMMAXXGBClassifier(**PARAMS).fit(X, y),
        "XGBoost with class weights": XGBClassifier(**PARAMS).fit(X, y, sample_weight=weight),
    }
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        proba = model.predict_proba(test)
        error = expected_calibration_error(proba, labels)
        off = np.abs(proba - true).mean()
        print(f"{name:28s} calibration error {error:.4f}, mean error of probabilities {off:.4f}")
        ax.plot([0, 1], [0, 1], color="0.7", lw=1)
        ax.scatter(true[:, 2], proba[:, 2], s=3, alpha=0.3, rasterized=True)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("true probability of the rarest class", fontsize=8)
    axes[0].set_ylabel("predicted", fontsize=8)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], metadata={"Date": None}, dpi=120)


if __name__ == "__main__":
    main()
