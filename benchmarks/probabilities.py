"""How far probabilities are from the truth, by margins, by class weights and by searches.

    python benchmarks/probabilities.py [mixture] [keel]

In the mixture the classes are normal with the same covariance, so the true log-odds are linear and
known. A linear score that is trained with unequal margins cannot be the minimiser of its loss's
conditional risk there, and the link, which inverts that minimiser, is off. A search chooses its
probabilities by log-loss, whatever it is for. On KEEL, where the truth is not known, its log-loss
on held-out samples is compared with those of plain logistic regression, lambda by log-loss, and of
the fit that makes the decisions. The goal is a log-loss of at most 1.01 times the better of the
two, for every aim. Where it is missed, a t-test of the differences of the folds, with the variance
corrected for training samples that folds share, says whether that is more than noise.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.datasets import gaussian_mixture, keel_names, load_keel
from immax.decisions import Costs
from immax.evaluation.statistics import paired_p
from immax.margins import power_margins
from immax.search import PowerFamily

COUNTS = (95_000, 5_000)
LAM = 1e-6
AIMS = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced_accuracy",
    "F1": "f1",
    "MCC": "mcc",
    "G-mean": "gmean",
    "an error on the rarer class costs ten": Costs([1.0, 10.0]),
}
N_SETS, FEWEST, FOLDS, REPEATS = 20, 35, 5, 2
GOAL, LEVEL = 1.01, 0.05
PLAIN = "logistic regression, λ by log-loss"


def compare_mixture() -> None:
    """Print the errors of probabilities that are known."""
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


def keel_losses(name: str) -> dict[str, np.ndarray]:
    """Return the log-losses of the folds: of logistic regression, and two for each aim."""
    X, y = load_keel(name)
    y = (y == np.unique(y)[np.argmin(np.unique(y, return_counts=True)[1])]).astype(int)
    losses: dict[str, list[float]] = {}
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0)
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        own, held_out = scaler.transform(X[train]), scaler.transform(X[test])
        equal = PowerFamily(values=(0.0,))
        models = {PLAIN: IMMAXClassifierCV(family=equal, scoring="neg_log_loss", one_se=False)}
        models |= {title: IMMAXClassifierCV(aim=aim) for title, aim in AIMS.items()}
        for title, model in models.items():
            model.fit(own, y[train])
            fits = {title: model, f"{title}, decisions": model.best_estimator_}
            for key, fit in fits.items():
                proba = fit.predict_proba(held_out)
                losses.setdefault(key, []).append(log_loss(y[test], proba, labels=[0, 1]))
    return {key: np.array(values) for key, values in losses.items()}


def compare_keel() -> None:
    """Print the log-losses of searches for every aim beside the better of two others."""
    counts = {name: np.unique(load_keel(name)[1], return_counts=True)[1] for name in keel_names()}
    fit = [name for name in counts if counts[name].min() >= FEWEST]
    names = sorted(fit, key=lambda name: counts[name].sum())[:N_SETS]
    tables = [keel_losses(name) for name in names]
    print(f"{N_SETS} sets of KEEL, {', '.join(names)}; {FOLDS} folds, {REPEATS} times\n")
    print(
        "| aim | log-loss | the fit for decisions | ratio of the means to the better "
        "| sets within 1 % | of the others, p < 0.05 | worst set |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    plain = np.array([table[PLAIN] for table in tables])
    print(f"| {PLAIN} | {plain.mean():.4f} | | | | | |")
    for title in AIMS:
        own, decisions = (
            np.array([table[key] for table in tables]) for key in (title, f"{title}, decisions")
        )
        ratio = own.mean() / min(plain.mean(), decisions.mean())
        plain_is_better = plain.mean(axis=1) <= decisions.mean(axis=1)
        better = np.where(plain_is_better[:, None], plain, decisions)
        each = own.mean(axis=1) / better.mean(axis=1)
        above = np.flatnonzero(each > GOAL)
        p_values = {names[i]: paired_p(own[i] - better[i], 1 / (FOLDS - 1)) for i in above}
        certain = [f"{name} ({p:.3f})" for name, p in p_values.items() if p < LEVEL]
        worst = int(each.argmax())
        print(
            f"| {title} | {own.mean():.4f} | {decisions.mean():.4f} | {ratio:.3f} "
            f"| {len(names) - len(above)} of {len(names)} | {', '.join(certain) or 'none'} "
            f"| {names[worst]}, {each[worst]:.2f} |"
        )


if __name__ == "__main__":
    parts = {"mixture": compare_mixture, "keel": compare_keel}
    for part in sys.argv[1:] or parts:
        parts[part]()
