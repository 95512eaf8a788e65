"""IMMAX and other methods on a long-tailed sample of handwritten digits.

The regularisation of each model is chosen by cross-validation on the training half; the test half
has the same class shares.
"""

from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, recall_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from immax import BaselineClassifier, IMMAXClassifier
from immax.datasets import long_tailed

SEED = 0
RATIO = 20
FOLDS = StratifiedKFold(3, shuffle=True, random_state=SEED)
CS = {"C": np.logspace(-3, 2, 6)}
LAMS = {"lam": np.logspace(-5, 0, 6)}

MODELS: dict[str, tuple[BaseEstimator, dict[str, np.ndarray]]] = {
    "logistic regression": (LogisticRegression(max_iter=5000), CS),
    "  class weights": (LogisticRegression(max_iter=5000, class_weight="balanced"), CS),
    "linear SVM (one vs rest)": (LinearSVC(max_iter=50_000, random_state=SEED), CS),
    "logit adjustment": (BaselineClassifier("la", method_params={"tau": 0.5}), LAMS),
    "LDAM": (BaselineClassifier("ldam"), LAMS),
    "IMMAX hinge": (IMMAXClassifier("hinge"), LAMS),
    "IMMAX logistic": (IMMAXClassifier(), LAMS),
    "  rule='bayes'": (IMMAXClassifier(rule="bayes"), LAMS),
}


def main() -> None:
    """Print one line for each model."""
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, RATIO, random_state=SEED)
    split = train_test_split(X[keep], y[keep], test_size=0.5, stratify=y[keep], random_state=SEED)
    X_train, X_test, y_train, y_test = split
    print(f"digits, long-tailed: {len(y_train)} training samples, per class:", end=" ")
    print(*np.bincount(y_train))
    print(f"{'':26} accuracy  balanced  log-loss  seconds  recall of each class")
    for name, (model, grid) in MODELS.items():
        search = GridSearchCV(make_pipeline(StandardScaler(), model), _steps(model, grid), cv=FOLDS)
        best = search.fit(X_train, y_train).best_estimator_
        start = perf_counter()
        best.fit(X_train, y_train)
        seconds = perf_counter() - start
        predicted = best.predict(X_test)
        loss = "-"
        if hasattr(best, "predict_proba"):
            loss = f"{log_loss(y_test, best.predict_proba(X_test)):.3f}"
        recalls = recall_score(y_test, predicted, average=None)
        print(
            f"{name:26} {accuracy_score(y_test, predicted):8.3f}"
            f"  {balanced_accuracy_score(y_test, predicted):8.3f}  {loss:>8}"
            f"  {seconds:7.3f}  {' '.join(f'{r:4.2f}' for r in recalls)}"
        )


def _steps(model: BaseEstimator, grid: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    step = type(model).__name__.lower()
    return {f"{step}__{name}": values for name, values in grid.items()}


if __name__ == "__main__":
    main()
