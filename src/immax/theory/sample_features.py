"""Features that depend on the sample, and the split that makes them independent of it."""

from __future__ import annotations

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
from immax.theory.hypotheses import unwrap_search

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
    names = []
    if isinstance(model, Pipeline):
        names = [type(step).__name__ for _, step in model.steps[:-1] if step != "passthrough"]
        X, model = model[:-1].transform(X) if len(model) > 1 else X, model[-1]
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
        Fitted to the features of all samples.
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
    classifier = model
    if isinstance(model, Pipeline):
        classifier = model[-1]
        if len(model) > 1:
            steps = clone(model[:-1]).fit(_safe_indexing(X, first), labels[first])
            features = steps.transform(X)
    own, rule, _ = unwrap_search(classifier)
    if rule is not None:
        raise ValueError(
            "the search has chosen a rule for an aim, which the split cannot choose again; "
            "use certificate, whose bounds assume that the features were fixed"
        )
    copy = clone(own)
    if getattr(copy, "gamma", None) == "scale":
        part = _safe_indexing(features, first)
        spread = float(
            part.multiply(part).mean() - part.mean() ** 2
            if hasattr(part, "multiply")
            else np.var(part)
        )
        copy.set_params(gamma=1 / (part.shape[1] * spread) if spread else 1.0)
    copy.fit(features, labels)
    return (
        copy,
        _safe_indexing(features, rest),
        rest,
        f"none on the features: they were computed from {first.size:,} other samples, and the "
        f"classifier was fitted anew, to the features of all {labels.size:,}.",
    )


def _variance(X: Features) -> float:
    """Return the variance of all entries, which ``gamma="scale"`` divides by."""
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(np.asarray(X)))
