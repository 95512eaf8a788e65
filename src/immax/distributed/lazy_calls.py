"""Methods of local models, called lazily on the partitions of collections."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.distributed.collections import map_rows, partitions_of

try:
    import dask.array as da
    from dask import delayed
    from distributed import Client
except ModuleNotFoundError as error:
    raise ImportError('immax.distributed needs Dask: pip install "immax[distributed]"') from error

__all__ = ["LazyCall", "call_lazily", "mean_accuracy"]

NAMED = (
    "predict_proba",
    "predict_log_proba",
    "decision_proba",
    "decision_function",
)  # columns are classes


class LazyCall:
    """A call of a local model's method, which can be sent to workers.

    Parameters
    ----------
    model : estimator
        A fitted model.
    method : str
        The name of its method.
    options : dict
        Keyword arguments of the method.
    """

    def __init__(self, model: Any, method: str, options: dict[str, Any]) -> None:
        self._model, self._method, self._options = model, method, options

    def __call__(self, X: Any) -> Array:
        return np.asarray(getattr(self._model, self._method)(X, **self._options))


def call_lazily(model: Any, method: str, X: Any) -> Any:
    """Return a prediction for each row of a collection, lazily.

    Parameters
    ----------
    model : estimator
        A fitted local model with ``classes_``.
    method : str
        The name of its method.
    X : dask.array.Array or dask.dataframe.DataFrame
        Features.

    Returns
    -------
    dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
        Of the kind and the divisions of X.
    """
    call = LazyCall(model, method, {})
    is_array = isinstance(X, da.Array)
    if is_array and X.shape[1] != model.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features; the model has {model.n_features_in_}")
    shown = np.zeros((1, X.shape[1]), dtype=X.dtype) if is_array else X._meta_nonempty
    if is_array and hasattr(model, "feature_names_in_"):
        raise ValueError(
            "the model was fitted to a data frame, whose columns have names; got a Dask array"
        )
    sample = call(shown)[:0]
    columns = model.classes_.tolist() if method in NAMED and sample.ndim == 2 else None
    return map_rows(call, X, sample, columns)


def mean_accuracy(predicted: Any, y: Any, weight: Any, client: Client) -> float:
    """Return the share of labels that are right.

    Parameters
    ----------
    predicted, y : dask.array.Array or dask.dataframe.Series
        Labels, in the same partitions.
    weight : dask.array.Array, dask.dataframe.Series or None
        Sample weights.
    client : distributed.Client

    Returns
    -------
    float
    """
    labels = partitions_of(predicted)
    true, weights = partitions_of(y), partitions_of(weight, len(labels))
    count = delayed(_count_hits)
    tasks = [count(*parts) for parts in zip(labels, true, weights, strict=True)]
    hits, total = np.sum(client.gather(client.compute(tasks)), axis=0)
    return float(hits / total)


def _count_hits(predicted: Any, true: Any, weight: Any) -> tuple[float, float]:
    """Return the weight of the samples whose label is right, and of all of them."""
    right = np.asarray(predicted) == np.asarray(true)
    weights = np.ones(len(right)) if weight is None else np.asarray(weight, dtype=float)
    return float(weights[right].sum()), float(weights.sum())
