"""Predictions of fitted models for Dask collections: lazy, of the kind of the collection."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from immax.distributed.clients import ClientParameter, resolve_client
from immax.distributed.collections import align_collections, check_collections
from immax.distributed.lazy_calls import call_lazily, mean_accuracy
from immax.distributed.local_copies import copy_fit

__all__ = ["LazyPredictions", "has_local_proba"]


def has_local_proba(estimator: LazyPredictions) -> bool:
    """Return whether the local estimator has probabilities.

    Parameters
    ----------
    estimator : LazyPredictions
        Fitted or not.

    Returns
    -------
    bool

    Raises
    ------
    AttributeError
        If it has none; the error is that of the local estimator.
    """
    params = estimator.get_params(deep=False)  # type: ignore[attr-defined]
    kind = estimator._local
    local = kind(**{name: params[name] for name in kind._get_param_names() if name in params})
    if hasattr(estimator, "classes_"):
        local.classes_ = estimator.classes_
    return getattr(local, "predict_proba") is not None  # noqa: B009 - the error is wanted


class LazyPredictions(ClientParameter):
    """Predictions for Dask collections, by a copy of the model for data in memory."""

    _local: ClassVar[type[Any]]

    def to_local(self) -> Any:
        """Return the fitted model as an estimator for data in memory.

        Returns
        -------
        IMMAXClassifier or BaselineClassifier
            It saves to the same model files.
        """
        check_is_fitted(self)
        return copy_fit(self, self._local)

    def decision_function(self, X: Any) -> Any:
        """Return the scores of each row, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.

        Returns
        -------
        dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Of the kind of X; for two classes the score of ``classes_[1]``.
        """
        return self._lazily("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Return the label of each row by ``rule``, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.

        Returns
        -------
        dask.array.Array or dask.dataframe.Series
        """
        return self._lazily("predict", X)

    @available_if(has_local_proba)
    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities of each row, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.

        Returns
        -------
        dask.array.Array or dask.dataframe.DataFrame
            With a column for each class.
        """
        return self._lazily("predict_proba", X)

    @available_if(has_local_proba)
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class probabilities, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.

        Returns
        -------
        dask.array.Array or dask.dataframe.DataFrame
        """
        return self._lazily("predict_log_proba", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the labels.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        y : dask.array.Array or dask.dataframe.Series of shape (n,)
            True labels.
        sample_weight : dask.array.Array or dask.dataframe.Series, optional
            Sample weights.

        Returns
        -------
        float
        """
        X, y, sample_weight = align_collections(X, y, sample_weight)
        return mean_accuracy(self.predict(X), y, sample_weight, resolve_client(self.client))

    def _lazily(self, method: str, X: Any) -> Any:
        local = self.to_local()
        return call_lazily(local, method, check_collections(X))
