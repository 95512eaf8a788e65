"""Features that depend on the sample, and the split that makes them independent of it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array, Features
from immax.theory.hypotheses import inner_name, unwrap_search

__all__ = ["describe_features", "split_features"]

WAY_OUT = "Otherwise these bounds are optimistic, and immax.theory.split_certificate gives others."


def describe_features(model: Any, X: Features) -> tuple[Any, Features, str]:
    """Return the classifier of a pipeline, its features, and what bounds assume of these.

    Parameters
    ----------
    model : fitted classifier or Pipeline
    X : array-like or sparse matrix of shape (m, d)

    Returns
    -------
    model : fitted classifier
    X : array-like or sparse matrix
    condition : str
    """
    check_is_fitted(model)
    steps, model = _split_pipeline(model)
    names = []
    if steps is not None:
        names = [type(step).__name__ for _, step in steps.steps if step != "passthrough"]
        X = steps.transform(X)
    if getattr(unwrap_search(model).model, "gamma", None) == "scale":
        names.append('gamma="scale"')
    condition = (
        f"the features were not computed from these samples, as by {', '.join(names)}."
        if names
        else "the features were not computed from these samples, as by a scaler fitted to them."
    )
    return model, X, f"{condition} {WAY_OUT}"


def split_features(
    model: Any,
    X: Features,
    y: ArrayLike,
    share: float,
    random_state: int | np.random.RandomState | None,
) -> tuple[Any, Features, Array, str]:
    """Fit a copy of a model whose features come from one part of the sample.

    Parameters
    ----------
    model : fitted classifier or Pipeline
    X, y
        The sample.
    share : float
        The share of each class that the features are computed from.
    random_state : int, RandomState instance or None

    Returns
    -------
    model : fitted classifier
        Fitted to the features of all samples. A search predicts by it with the rule that was
        found for the aim: the bounds are for all rules at once, so that it need not be found anew.
    X : array-like or sparse matrix
        Features of the other part.
    rest : ndarray of int
        Its rows.
    condition : str
        What the split was.
    """
    check_is_fitted(model)
    if not 0 < share < 1:
        raise ValueError(f"share must be strictly between 0 and 1; got {share!r}")
    labels = np.asarray(y)
    splitter = StratifiedShuffleSplit(1, train_size=share, random_state=random_state)
    first, rest = next(splitter.split(np.zeros((labels.size, 1)), labels))
    features: Features = X
    steps, classifier = _split_pipeline(model)
    if steps is not None:
        features = clone(steps).fit(_safe_indexing(X, first), labels[first]).transform(X)
    refitted = clone(unwrap_search(classifier).model)
    if getattr(refitted, "gamma", None) == "scale":
        part = _safe_indexing(features, first)
        spread = _variance(part)
        refitted.set_params(gamma=1 / (part.shape[1] * spread) if spread else 1.0)
    refitted.fit(features, labels)
    return (
        _replace_choice(classifier, refitted),
        _safe_indexing(features, rest),
        rest,
        f"none on the features: they were computed from {first.size:,} other samples, and the "
        f"classifier was fitted anew, to the features of all {labels.size:,}.",
    )


def _split_pipeline(model: Any) -> tuple[Pipeline | None, Any]:
    """Return the preprocessing steps of a model, if it has any, and its classifier.

    The pipeline may be the model itself, or the classifier of a search or of a model with a rule.
    """
    if isinstance(model, Pipeline):
        steps = [step for step in model.steps[:-1] if step[1] is not None]
        inner, classifier = _split_pipeline(model[-1])
        steps += [] if inner is None else inner.steps
        return Pipeline(steps) if steps else None, classifier
    name = inner_name(model)
    if name is None:
        return None, model
    preprocessing, classifier = _split_pipeline(getattr(model, name))
    return (
        (None, model)
        if preprocessing is None
        else (preprocessing, _with_inner(model, name, classifier))
    )


def _replace_choice(model: Any, classifier: Any) -> Any:
    """Return a copy of a search, or of a model with a rule, that predicts by another classifier."""
    name = inner_name(model)
    if name is None:
        return classifier
    return _with_inner(model, name, _replace_choice(getattr(model, name), classifier))


def _with_inner(model: Any, name: str, inner: Any) -> Any:
    outer = copy(model)
    setattr(outer, name, inner)
    return outer


def _variance(X: Features) -> float:
    """Return the variance of all entries, which ``gamma="scale"`` divides by."""
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(np.asarray(X)))
