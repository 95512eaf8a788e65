"""Draw the picture of the documentation's landing page.

    python tools/landing_picture.py

Left, the boundaries of the SVM, LDAM and IMMAX on a separable sample; right, the reliability of
balanced class weights as they are and as the link divides them out. Colours suit a light and a dark
page.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture, separable_pair
from immax.theory import hyperplanes

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "landing.svg"
GREY, BLUE, ORANGE, RED = "#7f8a96", "#2f86d6", "#e07b1a", "#d64545"


def draw_boundaries(ax: Axes) -> None:
    """Draw a separable sample and three ways to split its margin."""
    X, y = separable_pair(220, ratio=10, margin=0.6, random_state=3)
    ax.scatter(*X[y == 0].T, s=10, color=BLUE, alpha=0.6, linewidth=0)
    ax.scatter(*X[y == 1].T, s=22, color=ORANGE, linewidth=0)
    planes = hyperplanes(X, y)
    for name, colour in (("LDAM", RED), ("SVM", GREY), ("IMMAX", BLUE)):
        place = -planes[name].offset
        ax.axvline(place, color=colour, linewidth=2)
        ax.text(place - 0.03, -2.3, name, color=colour, rotation=90, ha="right", va="center")
    ax.set(xlim=(-1.9, 1.9), ylim=(-3.5, 3.5), xticks=[], yticks=[])
    ax.set_title("Margins: 200 samples against 20", color=GREY, fontsize=11)


def draw_reliability(ax: Axes) -> None:
    """Draw observed against predicted shares of the rare class."""
    counts = np.array([9500, 500])
    X, y, mixture = gaussian_mixture(counts, d=5, separation=2.0, random_state=0)
    X_test, y_test = mixture.sample(counts * 4, random_state=1)
    weighted = LogisticRegression(class_weight="balanced").fit(X, y)
    ours = IMMAXClassifier(margins="equal", weights="balanced", lam=1e-4).fit(X, y)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":")
    for model, name, colour, marker in (
        (ours, "immax", BLUE, "o"),
        (weighted, "class weights", RED, "^"),
    ):
        proba = model.predict_proba(X_test)[:, 1]
        seen, predicted = calibration_curve(y_test, proba, n_bins=10)
        ax.plot(predicted, seen, marker=marker, markersize=5, color=colour, label=name)
    ax.set_xlabel("predicted probability", color=GREY)
    ax.set_ylabel("observed share", color=GREY)
    ax.tick_params(colors=GREY)
    ax.legend(frameon=False, labelcolor="linecolor")
    ax.set_title("Probabilities with balanced weights", color=GREY, fontsize=11)


def main() -> None:
    """Write the picture."""
    mpl.rcParams.update(
        {"svg.hashsalt": "immax", "svg.fonttype": "none", "font.family": "sans-serif"}
    )
    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_boundaries(left)
    draw_reliability(right)
    for ax in (left, right):
        for side in ax.spines.values():
            side.set_color(GREY)
    figure.savefig(PICTURE, transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
