"""A search over the power of the margins, ``rho_k ∝ count_k^power``, with Optuna."""

import optuna
import torch
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from torch_plain import data, train

from immax.torch import IMMAXLoss


def main() -> None:
    """Print the power with the best balanced accuracy on held-out training data."""
    X, X_test, y, y_test = data()
    rows, held_out = train_test_split(range(len(y)), test_size=0.4, stratify=y, random_state=0)

    def objective(trial: optuna.Trial) -> float:
        power = trial.suggest_float("power", -0.5, 0.75)
        model = train(IMMAXLoss(labels=y[rows], power=power), X[rows], y[rows])
        with torch.no_grad():
            guess = model(X[held_out]).argmax(1)
        return float(balanced_accuracy_score(y[held_out], guess))

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.enqueue_trial({"power": 0.0})  # cross-entropy
    study.enqueue_trial({"power": 1 / 3})  # the theory
    study.optimize(objective, n_trials=12)
    power = study.best_params["power"]
    model = train(IMMAXLoss(labels=y, power=power), X, y)
    with torch.no_grad():
        score = balanced_accuracy_score(y_test, model(X_test).argmax(1))
    print(f"best power {power:.2f}, balanced accuracy {study.best_value:.3f} in the search")
    print(f"on the test data {score:.3f}")


if __name__ == "__main__":
    main()
