"""A hyper-parameter search space for boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from immax.validation import check_choice

__all__ = ["Trial", "suggest_boosting"]


class Trial(Protocol):
    """The methods of ``optuna.Trial`` that are used here."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """Suggest a number.

        Parameters
        ----------
        name : str
            The name of the parameter.
        low, high : float
            Its bounds.
        log : bool, default=False
            Whether to sample on a logarithmic scale.

        Returns
        -------
        float
        """

    def suggest_int(self, name: str, low: int, high: int) -> int:
        """Suggest a whole number.

        Parameters
        ----------
        name : str
            The name of the parameter.
        low, high : int
            Its bounds, both included.

        Returns
        -------
        int
        """

    def suggest_categorical(self, name: str, choices: Sequence[str]) -> str:
        """Suggest one of several values.

        Parameters
        ----------
        name : str
            The name of the parameter.
        choices : sequence of str
            The values.

        Returns
        -------
        str
        """


def suggest_boosting(trial: Trial, library: str = "xgboost") -> dict[str, float | int | str]:
    """Suggest an estimator's parameters for a trial of Optuna.

    Parameters
    ----------
    trial : optuna.Trial
        The trial.
    library : {"xgboost", "lightgbm", "catboost"}, default="xgboost"
        The library of the estimator.

    Returns
    -------
    dict
        For ``IMMAXXGBClassifier(**parameters)`` or another of the estimators; the power of the
        margins and the rule of decision are among them.

    Raises
    ------
    ValueError
        If there is no such library.
    """
    check_choice("library", library, ("xgboost", "lightgbm", "catboost"))
    rate = trial.suggest_float("learning_rate", 0.02, 0.3, log=True)
    parameters: dict[str, float | int | str] = {
        "power": trial.suggest_float("power", -0.5, 1.0),
        "rule": trial.suggest_categorical("rule", ["score", "bayes"]),
        "learning_rate": rate,
    }
    depth = trial.suggest_int("depth", 3, 8)
    penalty = trial.suggest_float("l2", 0.1, 30.0, log=True)
    if library == "catboost":
        return parameters | {"depth": depth, "l2_leaf_reg": penalty}
    subsample = trial.suggest_float("subsample", 0.6, 1.0)
    parameters |= {"subsample": subsample, "reg_lambda": penalty}
    if library == "lightgbm":
        return parameters | {"num_leaves": 2**depth - 1, "subsample_freq": 1}
    return parameters | {"max_depth": depth}
