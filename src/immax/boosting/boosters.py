"""Boosters of the libraries themselves: their descriptions, scores and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.boosting.description import ATTRIBUTE, Description
from immax.boosting.lightgbm_text import get_parameter, set_parameter
from immax.boosting.loss import BoostingLoss
from immax.losses.spec import LossSpec

__all__ = ["attach", "booster_scores", "find_description", "has_description", "proba"]


def proba(booster: Any, data: Any, spec: LossSpec | None = None) -> Array:
    """Return class probabilities of a booster that was trained with a loss of this package.

    Boosters know their scores only. The libraries would turn these into probabilities by the
    logistic function or the softmax, which is right for equal margins alone.

    Parameters
    ----------
    booster : xgboost.Booster, lightgbm.Booster, catboost.CatBoost or an estimator of them
        As ``get_booster()``, ``booster_`` or a model file of an estimator of ``immax.boosting``
        give it, or from the library's own ``train``.
    data : xgboost.DMatrix, catboost.Pool or array-like of shape (n, d)
        Features, as the booster takes them.
    spec : LossSpec, optional
        The loss of a booster that was trained by your own call of ``train``. The estimators'
        boosters carry it along.

    Returns
    -------
    ndarray of shape (n, c)
        In the order of the sorted labels.

    Raises
    ------
    ValueError
        If the booster does not say what its loss was.
    TypeError
        If it is not a booster of one of the three libraries.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from immax.boosting import IMMAXXGBClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXXGBClassifier(n_estimators=5).fit(X, y)
    >>> bool((proba(model.get_booster(), X) == model.predict_proba(X)).all())
    True
    """
    own = _booster_of(booster)
    if spec is not None:
        loss = BoostingLoss(spec, np.arange(spec.n_classes), np.zeros(1))
    else:
        loss = find_description(own).loss
    return loss.proba(booster_scores(own, data))


def find_description(booster: Any) -> Description:
    """Return the description that is stored in a booster.

    Parameters
    ----------
    booster : xgboost.Booster, lightgbm.Booster or catboost.CatBoost

    Returns
    -------
    Description

    Raises
    ------
    ValueError
        If it has none.
    """
    text = _read_text(booster)
    if text is None:
        raise ValueError(
            f"this {type(booster).__name__} does not say what its loss was: it does not come from "
            "an estimator of immax.boosting; pass the loss as spec="
        )
    return Description.from_json(text, f"the description in this {type(booster).__name__}")


def has_description(booster: Any) -> bool:
    """Return whether a description is stored in a booster.

    Parameters
    ----------
    booster : xgboost.Booster, lightgbm.Booster or catboost.CatBoost

    Returns
    -------
    bool
    """
    return _read_text(booster) is not None


def attach(booster: Any, description: Description, constants: Array | None = None) -> None:
    """Store a description in a booster, whose model files then contain it.

    Parameters
    ----------
    booster : xgboost.Booster, lightgbm.Booster or catboost.CatBoost
    description : Description
    constants : ndarray of shape (c,), or (1,) for two classes, optional
        Scores that boosting began with, if the booster does not contain them: LightGBM's.
    """
    text = description.to_json()
    if constants is None and _read_text(booster) == text:
        return
    library = _library_of(booster)
    if library == "xgboost":
        booster.set_attr(**{ATTRIBUTE: text})
    elif library == "catboost":
        booster.get_metadata()[ATTRIBUTE] = text
    else:
        set_parameter(booster, ATTRIBUTE, text, constants)


def booster_scores(booster: Any, data: Any) -> Array:
    """Return a booster's scores, up to its best iteration if training was stopped early.

    Parameters
    ----------
    booster : xgboost.Booster, lightgbm.Booster or catboost.CatBoost
    data : xgboost.DMatrix, catboost.Pool or array-like of shape (n, d)

    Returns
    -------
    ndarray of shape (n, c), or (n,) for two classes
    """
    library = _library_of(booster)
    if library == "lightgbm":
        return np.asarray(booster.predict(data, raw_score=True))
    if library == "catboost":
        return np.asarray(booster.predict(data, prediction_type="RawFormulaVal"))
    from xgboost import DMatrix

    matrix = data if isinstance(data, DMatrix) else DMatrix(data, enable_categorical=True)
    best = booster.attr("best_iteration")
    rounds = (0, 0) if best is None else (0, int(best) + 1)
    return np.asarray(booster.predict(matrix, output_margin=True, iteration_range=rounds))


def _read_text(booster: Any) -> str | None:
    library = _library_of(booster)
    if library == "xgboost":
        text: str | None = booster.attr(ATTRIBUTE)
        return text
    if library == "catboost":
        metadata = booster.get_metadata()
        return str(metadata[ATTRIBUTE]) if ATTRIBUTE in metadata.keys() else None  # noqa: SIM118
    return get_parameter(booster, ATTRIBUTE)


def _booster_of(model: Any) -> Any:
    """Return the booster of an estimator, and a booster as it is."""
    if hasattr(model, "get_booster"):
        return model.get_booster()
    return model.booster_ if hasattr(model, "booster_") else model


def _library_of(booster: Any) -> str:
    names = [(base.__module__.split(".")[0], base.__name__) for base in type(booster).__mro__]
    for library, name in (
        ("xgboost", "Booster"),
        ("lightgbm", "Booster"),
        ("catboost", "CatBoost"),
    ):
        if (library, name) in names:
            return library
    raise TypeError(
        "booster must be an xgboost.Booster, a lightgbm.Booster or a catboost.CatBoost; got "
        f"{type(booster).__name__}"
    )
