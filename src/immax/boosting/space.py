"""A search space for boosted trees."""

from __future__ import annotations

from typing import Any

from immax.validation import check_choice

__all__ = ["suggest_boosting"]


def suggest_boosting(trial: Any, library: str = "xgboost") -> dict[str, Any]:
    """Parameters of an estimator for a trial of Optuna, margins' power and rule among them.

    Parameters
    ----------
    trial : optuna.Trial
    library : {"xgboost", "lightgbm", "catboost"}

    Returns
    -------
    dict
        For ``IMMAXXGBClassifier(**parameters)`` or another of the estimators.
    """
    check_choice("library", library, ("xgboost", "lightgbm", "catboost"))
    rate = trial.suggest_float("learning_rate", 0.02, 0.3, log=True)
    found: dict[str, Any] = {
        "power": trial.suggest_float("power", -0.5, 1.0),
        "rule": trial.suggest_categorical("rule", ["score", "bayes"]),
        "learning_rate": rate,
    }
    depth = trial.suggest_int("depth", 3, 8)
    penalty = trial.suggest_float("l2", 0.1, 30.0, log=True)
    if library == "catboost":
        return found | {"depth": depth, "l2_leaf_reg": penalty}
    found |= {"subsample": trial.suggest_float("subsample", 0.6, 1.0), "reg_lambda": penalty}
    if library == "lightgbm":
        return found | {"num_leaves": 2**depth - 1, "subsample_freq": 1}
    return found | {"max_depth": depth}
