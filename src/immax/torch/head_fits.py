"""Exact fits of a linear layer to features: IMMAX with a search, or a method of the catalogue."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GridSearchCV, ParameterGrid

from immax.arrays import Array, Vector
from immax.decisions.rules import Rule
from immax.linear import BaselineClassifier, IMMAXClassifier
from immax.losses.catalog import METHODS
from immax.losses.spec import LossSpec
from immax.search.families import PowerFamily, resolve_family
from immax.search.folds import make_folds
from immax.search.margin_family import MarginFamily, family_weights
from immax.search.weighted_family import WeightedFamily
from immax.torch.head_data import HeadData, HeldOut, Selection, pool_selection
from immax.torch.head_search import POWERS, search_head
from immax.validation import check_choice

__all__ = ["HeadRecord", "LinearFit", "Margins", "default_lams", "fit_catalogue", "fit_immax"]

Margins: TypeAlias = "str | float | ArrayLike"
STRENGTHS = np.logspace(-5, 0, 6)  # of the penalty, in units of the features' variance
NAMED_POWERS = {"equal": 0.0, "theory": 1 / 3}
SAMPLED = 10_000  # rows from which the variance is estimated
TOL = 1e-4
PLAIN = ("accuracy", "log_loss", "neg_log_loss")  # aims that class weights do not serve


@dataclass(frozen=True)
class HeadRecord:
    """How a head was fitted.

    Attributes
    ----------
    method : str
        "immax", a method of the catalogue, or a rival.
    lam : float or None
        λ, chosen or given; None where there is no penalty.
    parameters : dict of str to float
        The power of the margins, or the hyper-parameters of the method.
    selected_on : {"nothing", "folds", "held-out", "cross-fitted", "loader"}
        The samples that λ and the margins were chosen on; "loader" if it was all samples of the
        loader, without folds, for a method that fits nothing to them.
    scoring : str
        By what they were chosen.
    score : float or None
        The score of the choice on those samples.
    gap : float or None
        A bound on how far the objective is from its minimum, relative to it.
    n_samples : int
        The number of samples that the head was fitted to.
    seconds : float
        The time that it took.
    """

    method: str
    lam: float | None = None
    parameters: Mapping[str, Any] | None = None
    selected_on: str = "nothing"
    scoring: str = ""
    score: float | None = None
    gap: float | None = None
    n_samples: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class LinearFit:
    """A linear layer with what its scores mean.

    Attributes
    ----------
    coef : ndarray of shape (c, d), or (1, d) for two classes
    intercept : ndarray of shape (c,) or (1,)
    spec : LossSpec
        The loss, which links scores to probabilities.
    rule : "score", "bayes" or Rule
        The decisions that the search chose.
    counts : ndarray of shape (c,)
        Class counts of the training features.
    record : HeadRecord
    """

    coef: Array
    intercept: Array
    spec: LossSpec
    rule: str | Rule
    counts: Vector
    record: HeadRecord


def default_lams(X: Array) -> Vector:
    """Return the values of λ that are searched: powers of ten times the variance of the features.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features. A tenfold larger X has the same models at a hundredfold larger λ.

    Returns
    -------
    ndarray
        From 1e-5 to 1 times the mean squared distance of the rows from their mean.
    """
    some = np.asarray(X[:: max(1, len(X) // SAMPLED)], dtype=np.float64)
    variance = float(some.var(axis=0).sum())
    return np.asarray(STRENGTHS * (variance if variance > 0 else 1.0))


def fit_immax(
    data: HeadData,
    selection: HeldOut | None,
    margins: Margins,
    lam: float | None,
    **options: Any,
) -> LinearFit:
    """Fit logistic IMMAX, with a search for what is not given.

    Parameters
    ----------
    data : HeadData
        The samples that the head is fitted to.
    selection : optional
        As in ``pool_selection``.
    margins : "search", "equal", "theory", float or array-like
        A number is the power of the class counts.
    lam : float or None
        None searches λ.
    **options
        Of IMMAXClassifierCV, or of IMMAXClassifier if nothing is searched.

    Returns
    -------
    LinearFit
    """
    for name in ("loss", "form"):
        if name in options:
            raise ValueError(
                f"{name} is not an option of a head, whose loss is the logistic one in the sum form"
            )
    begin = time.perf_counter()
    options = {"tol": TOL, **options}
    decides = options.get("aim") is not None or options.get("costs") is not None
    known = _known_margins(margins, data.counts)
    if lam is not None and known is not None:
        if selection is not None:
            raise ValueError("selection is for a search; lam and margins are both given")
        model = IMMAXClassifier(lam=lam, margins=known, **options).fit(data.X, data.y)
        record = _record(model, "immax", data, begin, {"margins": np.ravel(known).tolist()})
        return _linear(model, _spec(model), "score", data, record)
    pool = pool_selection(data, selection, options.pop("cv", None))
    family = _family(margins, options)
    lams = [lam] if lam is not None else options.pop("lams", None)
    search = search_head(
        pool,
        family,
        default_lams(pool.X) if lams is None else np.ravel(lams),
        data.counts.size,
        **{"scoring": "accuracy" if decides else "neg_log_loss", **options},
    )
    point = search.best_parameters_
    model = IMMAXClassifier(
        lam=search.best_lam_,
        margins=family.margins(point, data.counts),
        weights=family_weights(family, point, data.counts),
        **{key: options[key] for key in _FINAL if key in options},
    ).fit(data.X, data.y)
    for_labels = isinstance(search.best_rule_, Rule) or search.scoring != "neg_log_loss"
    record = _record(
        model,
        "immax",
        data,
        begin,
        {"power": float(point[0])}
        if isinstance(family, PowerFamily)
        else {"point": point.tolist()},
        pool.kind,
        str(search.aim or ("costs" if search.costs is not None else search.scoring)),
        search.best_score_,
    )
    rule = search.best_rule_ if for_labels else "bayes"
    return _linear(model, _spec(model), rule, data, record)


_FINAL = ("penalty", "l1_ratio", "groups", "fit_intercept", "tol", "max_iter")


def _known_margins(margins: Margins, counts: Vector) -> Vector | None:
    """Return the margins themselves; None if they are to be searched."""
    if isinstance(margins, str):
        check_choice("margins", margins, ("search", *NAMED_POWERS))
        if margins == "search":
            return None
        margins = NAMED_POWERS[margins]
    if isinstance(margins, (int, float, np.number)):
        return PowerFamily().margins([float(margins)], counts)
    return np.asarray(margins, dtype=np.float64)


def _family(margins: Margins, options: dict[str, Any]) -> MarginFamily:
    """Return the margins to search among; removes the option."""
    family = options.pop("family", "auto")
    if isinstance(margins, str) and margins == "search":
        if not isinstance(family, str) or family != "auto":
            return resolve_family(family)
        aims = (options.get("aim") or "accuracy", options.get("scoring") or "accuracy")
        plain = options.get("costs") is None and all(
            isinstance(aim, str) and aim in PLAIN for aim in aims
        )
        return PowerFamily(values=POWERS) if plain else WeightedFamily()
    if isinstance(margins, str):
        return PowerFamily(values=(NAMED_POWERS[margins],))
    if isinstance(margins, (int, float, np.number)):
        return PowerFamily(values=(float(margins),))
    raise ValueError(
        "margins as an array need lam= as well; a search of lam takes 'equal', 'theory', 'search' "
        "or a power of the class counts"
    )


def fit_catalogue(
    data: HeadData,
    selection: HeldOut | None,
    method: str,
    lam: float | None,
    **options: Any,
) -> LinearFit:
    """Fit a method of the catalogue, with a grid search for what is not given.

    Parameters
    ----------
    data : HeadData
        The samples that the head is fitted to.
    selection : optional
        As in ``pool_selection``.
    method : str
        A key of ``immax.losses.catalog.METHODS``.
    lam : float or None
        None searches λ.
    **options
        ``method_params``, where a list of values is searched; ``lams``, ``cv``, ``scoring``,
        ``n_jobs``, ``random_state`` of the search; those of BaselineClassifier.

    Returns
    -------
    LinearFit
    """
    begin = time.perf_counter()
    check_choice("method", method, tuple(METHODS))
    params = dict(options.pop("method_params", None) or {})
    grid = list(
        ParameterGrid({k: v if isinstance(v, (list, tuple)) else [v] for k, v in params.items()})
    )
    cv, lams = options.pop("cv", None), options.pop("lams", None)
    scoring, n_jobs = options.pop("scoring", "neg_log_loss"), options.pop("n_jobs", None)
    options = {"tol": TOL, **options}
    make = {"method": method, "lam": lam, "method_params": grid[0]}
    score, kind = None, "nothing"
    if lam is None or len(grid) > 1:
        pool = pool_selection(data, selection, cv)
        default = default_lams(pool.X) if lams is None else lams
        search = GridSearchCV(
            BaselineClassifier(method, **options),
            {"lam": [lam] if lam is not None else list(default), "method_params": grid},
            scoring=_log_likelihood if scoring == "neg_log_loss" else scoring,
            cv=_pairs(pool, options.get("random_state")),
            n_jobs=n_jobs,
            refit=False,
            error_score="raise",
        ).fit(pool.X, pool.y)
        make |= search.best_params_
        score, kind = float(search.best_score_), pool.kind
    elif selection is not None:
        raise ValueError("selection is for a search; lam and method_params are both given")
    model = BaselineClassifier(**make, **options).fit(data.X, data.y)
    chosen = {key: float(value) for key, value in make["method_params"].items()}
    by = str(scoring) if score is not None else ""
    record = _record(model, method, data, begin, chosen, kind, by, score)
    return _linear(model, model.spec_, "score", data, record)


def _log_likelihood(model: BaselineClassifier, X: Array, y: Array) -> float:
    """Return the mean log-probability of the labels, some of which may be missing."""
    proba = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.log(np.maximum(proba, np.finfo(np.float64).tiny)).mean())


def _pairs(pool: Selection, random_state: Any) -> list[tuple[Array, Array]]:
    cv = 5 if pool.cv is None else pool.cv
    folds = make_folds(cv, pool.X, pool.y, np.ones(len(pool.y)), random_state)
    return [(fold.train, fold.tests[0]) for fold in folds]


def _spec(model: IMMAXClassifier) -> LossSpec:
    return LossSpec(model.margins_, weight=model.weights_, name="immax")


def _record(
    model: Any,
    method: str,
    data: HeadData,
    begin: float,
    parameters: dict[str, Any],
    kind: str = "nothing",
    scoring: str = "",
    score: float | None = None,
) -> HeadRecord:
    gap = None if model.gap_ is None else float(model.gap_ / abs(model.objective_))
    return HeadRecord(
        method,
        float(model.lam),
        parameters,
        kind,
        scoring,
        score,
        gap,
        len(data.y),
        time.perf_counter() - begin,
    )


def _linear(
    model: Any, spec: LossSpec, rule: str | Rule, data: HeadData, record: HeadRecord
) -> LinearFit:
    return LinearFit(model.coef_, model.intercept_, spec, rule, data.counts, record)
