"""Optuna search spaces of margins and methods, for any model that is trained with a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_vectors import class_vector, positive_number
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec
from immax.search.families import PowerFamily, resolve_family
from immax.search.margin_family import MarginFamily

if TYPE_CHECKING:
    import optuna

__all__ = ["suggest_margins", "suggest_method", "tune"]


def _names(family: MarginFamily, n: int) -> list[str]:
    if isinstance(family, PowerFamily):
        return ["power"]
    return [f"margin_{i}" for i in range(n)] if n > 1 else ["alpha"]


def suggest_margins(
    trial: optuna.Trial,
    counts: ArrayLike,
    family: str | MarginFamily = "auto",
    total: float | None = None,
) -> Vector:
    """Suggest margins for a trial of Optuna, from the family's box.

    Parameters
    ----------
    trial : optuna.Trial
        The trial.
    counts : array-like of shape (n_classes,)
        Number of training samples per class.
    family : str or MarginFamily, default="auto"
        As in IMMAXClassifierCV.
    total : float, optional
        The sum of the theory's margins. By default their mean is one; 1 is the paper's scaling.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    chosen = resolve_family(family)
    low, high = chosen.box(counts)
    names = _names(chosen, low.size)
    point = [
        trial.suggest_float(name, float(least), float(most))
        for name, least, most in zip(names, low, high, strict=True)
    ]
    rho = chosen.margins(np.array(point), counts)
    return rho if total is None else rho * (positive_number(total, "total") / rho.size)


def suggest_method(trial: optuna.Trial, method: str, counts: ArrayLike) -> LossSpec:
    """Suggest the loss of a method for a trial of Optuna, from the paper's grid.

    "immax" has margins of mean one from the paper's box, one for all classes but the two most
    frequent; the other methods have the values of their hyper-parameters.

    Parameters
    ----------
    trial : optuna.Trial
        The trial.
    method : str
        A key of ``catalog.METHODS``.
    counts : array-like of shape (n_classes,)
        Number of training samples per class.

    Returns
    -------
    LossSpec

    Raises
    ------
    ValueError
        If there is no such method.
    """
    m = class_vector(counts, "counts")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if method == "immax":
        return make_spec("immax", m, rho=suggest_margins(trial, m, "shared_tail"))
    grid = METHODS[method].grid
    values = {
        name: trial.suggest_categorical(f"{method}_{name}", list(grid[name])) for name in grid
    }
    return make_spec(method, m, **values)


def tune(
    objective: Callable[[optuna.Trial, Vector], float],
    counts: ArrayLike,
    family: str | MarginFamily = "auto",
    n_trials: int = 30,
    *,
    sampler: optuna.samplers.BaseSampler | None = None,
    pruner: optuna.pruners.BasePruner | None = None,
    storage: str | optuna.storages.BaseStorage | None = None,
    study_name: str = "immax",
    timeout: float | None = None,
    direction: Literal["maximize", "minimize"] = "maximize",
    total: float | None = None,
    progress: bool = False,
) -> optuna.Study:
    """Search for margins for any model that can be trained and scored.

    The first two trials are equal margins and the theory's. With a ``storage`` the study can be
    interrupted and resumed: finished trials count towards ``n_trials``.

    Parameters
    ----------
    objective : callable
        ``objective(trial, margins)`` trains with the margins and returns a score; it may report
        to the trial for pruning.
    counts : array-like of shape (n_classes,)
        Number of training samples per class.
    family : str or MarginFamily, default="auto"
        As in IMMAXClassifierCV.
    n_trials : int, default=30
        The number of trials, those of earlier runs included.
    sampler, pruner, storage
        As in ``optuna.create_study``; the sampler is by default TPE with a fixed seed.
    study_name : str, default="immax"
        The study's name in the storage.
    timeout : float, optional
        Seconds after which no trial begins.
    direction : {"maximize", "minimize"}, default="maximize"
        Whether large or small scores are better.
    total : float, optional
        The sum of the theory's margins. By default their mean is one; 1 is the paper's scaling.
    progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    optuna.Study

    Raises
    ------
    ImportError
        If Optuna is not installed.
    """
    try:
        import optuna
    except ModuleNotFoundError as error:
        raise ImportError('tune needs Optuna: pip install "immax[bench]"') from error
    chosen = resolve_family(family)
    study = optuna.create_study(
        direction=direction,
        sampler=sampler or optuna.samplers.TPESampler(seed=0),
        pruner=pruner,
        storage=storage,
        study_name=study_name,
        load_if_exists=storage is not None,
    )
    if not study.trials:
        for point in (chosen.plain(counts), chosen.centre(counts)):
            names = _names(chosen, point.size)
            study.enqueue_trial(dict(zip(names, point.tolist(), strict=True)))
    ended = sum(trial.state.is_finished() for trial in study.trials)
    if n_trials > ended:
        study.optimize(
            lambda trial: objective(trial, suggest_margins(trial, counts, chosen, total)),
            n_trials=n_trials - ended,
            timeout=timeout,
            show_progress_bar=progress,
        )
    return study
