"""How far probabilities are from the truth, by margins, by class weights and by searches.

    python benchmarks/probabilities.py

The classes are normal with the same covariance, so the true log-odds are linear and known. A linear
score that is trained with unequal margins cannot be the minimiser of its loss's conditional risk
there, and the link, which inverts that minimiser, is off. A search chooses its probabilities by
log-loss, whatever it is for.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.datasets import gaussian_mixture
from immax.margins import power_margins

COUNTS = (95_000, 5_000)
LAM = 1e-6


def main() -> None:
    """Print the table."""
    X, y, mixture = gaussian_mixture(COUNTS, 5, 2.0, random_state=0)
    test, labels, _ = gaussian_mixture(COUNTS, 5, 2.0, random_state=1)
    truth = mixture.posterior(test)

    def show(name: str, proba: np.ndarray) -> None:
        error = np.abs(proba - truth)[:, 1].mean()
        print(f"| {name} | {error:.3f} | {log_loss(labels, proba):.4f} |", flush=True)

    print("| model | mean error of P | log-loss |\n| --- | --- | --- |")
    show("the true probabilities", truth)
    plain = LogisticRegression(C=1 / (2 * LAM * len(y))).fit(X, y)
    show("logistic regression", plain.predict_proba(test))
    weighted = LogisticRegression(C=1 / (2 * LAM * len(y)), class_weight="balanced").fit(X, y)
    show("logistic regression, balanced class weights", weighted.predict_proba(test))
    for power, name in ((0.0, "0"), (1 / 3, "1/3"), (2 / 3, "2/3"), (1.0, "1")):
        margins = power_margins(COUNTS, power)
        model = IMMAXClassifier(lam=LAM, margins=margins).fit(X, y)
        show(f"margins ∝ n^t, t = {name}", model.predict_proba(test))
    model = IMMAXClassifier(lam=LAM, margins="equal", weights="balanced").fit(X, y)
    show("balanced class weights, divided out", model.predict_proba(test))
    small = np.random.default_rng(0).permutation(len(y))[:10_000]
    for aim in ("accuracy", "balanced_accuracy", "f1", "mcc"):
        search = IMMAXClassifierCV(aim=aim, lams=[1e-6, 1e-4, 1e-2]).fit(X[small], y[small])
        show(f"search, aim={aim!r} (10,000 samples)", search.predict_proba(test))
    plain = LogisticRegression(C=1 / (2 * LAM * small.size)).fit(X[small], y[small])
    show("logistic regression (10,000 samples)", plain.predict_proba(test))


if __name__ == "__main__":
    main()
