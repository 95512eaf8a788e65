"""IMMAX and the methods of the catalogue for LightGBM on Dask collections."""

from __future__ import annotations

import warnings
from typing import Any, Self

from immax.boosting.boosters import attach
from immax.boosting.estimator import LOSS_PARAMETERS, check_library_parameters
from immax.boosting.lightgbm import METRIC_ALIASES, RESERVED, IMMAXLGBMClassifier, LGBMObjective
from immax.distributed.clients import resolve_client
from immax.distributed.collections import align_collections, encode_labels, repeat_rows
from immax.distributed.predictions import DaskBoostingMixin, LabelEncoder

try:
    from lightgbm.dask import DaskLGBMRegressor
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs LightGBM: pip install "immax[boosting]"') from error

__all__ = ["DaskIMMAXLGBMClassifier"]


class DaskIMMAXLGBMClassifier(IMMAXLGBMClassifier, DaskBoostingMixin):
    """``IMMAXLGBMClassifier`` on Dask collections, trained by ``lightgbm.dask``.

    The margins come from the class counts of all partitions, and so do the scores that boosting
    begins with; a worker sees the labels of its own rows only. Workers need not have samples of
    every class. LightGBM does not stop early on Dask, so that there are no evaluation sets.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the client in use. It is not pickled.
    **kwargs
        Parameters of IMMAXLGBMClassifier. Aims need a rule in closed form, such as costs or
        balanced accuracy.

    Attributes
    ----------
    margins_, loss_, rule_
        As of IMMAXLGBMClassifier.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows, labels = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> with Client(processes=False, n_workers=1) as client:  # doctest: +SKIP
    ...     model = DaskIMMAXLGBMClassifier(n_estimators=10, verbose=-1).fit(rows, labels)
    >>> bool(model.to_local().score(X, y) > 0.95)  # doctest: +SKIP
    True
    """

    def __init__(self, *, client: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.client = client

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # a connection is of this process alone

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, **options: Any
    ) -> Self:
        """Fit the model to the rows of all partitions.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        y : dask.array.Array or dask.dataframe.Series of shape (n,)
            Labels of any type, in the partitions of X.
        sample_weight : dask.array.Array or dask.dataframe.Series, optional
            Sample weights.
        **options
            ``feature_name`` and ``categorical_feature``, as in LightGBM.

        Returns
        -------
        DaskIMMAXLGBMClassifier
            The fitted estimator.
        """
        params = self.get_params()
        check_library_parameters(params, RESERVED, "n_estimators")
        unknown = [name for name in options if name not in self._fold_options]
        if unknown:
            raise ValueError(f"fit on Dask collections does not take {', '.join(unknown)}")
        client = resolve_client(self.client)
        X, y, sample_weight = align_collections(X, y, sample_weight)
        loss = self._make_distributed_loss(y, sample_weight).loss
        codes = encode_labels(y, LabelEncoder(loss, "y"))
        ours = (*LOSS_PARAMETERS, *METRIC_ALIASES, "client", "objective", "class_weight")
        several = {} if loss.binary else {"num_class": len(loss.classes)}
        # Its classifier would encode the labels of each worker by themselves.
        trained = DaskLGBMRegressor(
            client=client,
            objective=LGBMObjective(loss),
            metric="None",
            **{"feature_pre_filter": False} | several,
            **{name: value for name, value in params.items() if name not in ours},
        )
        with warnings.catch_warnings():
            # Workers have threads of their own; LightGBM says so even if none were asked for.
            warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
            trained.fit(
                X,
                codes,
                sample_weight=sample_weight,
                init_score=repeat_rows(loss.constants, codes),
                **options,
            )
        self._adopt(trained.to_local(), LGBMObjective(loss))
        self._set_loss(loss, self._distributed_rule(loss))
        attach(self.booster_, self._description(), loss.constants)
        return self

    def _adopt(self, source: Any, objective: Any) -> None:
        """Take over what a fitted model of LightGBM has."""
        self._Booster = source.booster_
        self._n_features = source.n_features_
        self._n_features_in = source.n_features_in_
        self._best_iteration, self._best_score = source.best_iteration_, source.best_score_
        self._evals_result = source.evals_result_
        self._fitted_with_feature_names = getattr(source, "_fitted_with_feature_names", False)
        self._objective = objective
        self.fitted_ = True

    def _set_loss(self, loss: Any, rule: Any) -> None:
        super()._set_loss(loss, rule)
        self._classes, self._n_classes = loss.classes, len(loss.classes)

    def to_local(self) -> IMMAXLGBMClassifier:
        """Return the fitted model as an IMMAXLGBMClassifier, for data in memory.

        Returns
        -------
        IMMAXLGBMClassifier
        """
        loss = self._fitted_loss()
        params = self.get_params()
        del params["client"]
        local = IMMAXLGBMClassifier(**params)
        DaskIMMAXLGBMClassifier._adopt(local, self, self._objective)
        local._classes, local._n_classes = loss.classes, len(loss.classes)
        local._set_loss(loss, self._aim_rule)
        return local

    def decision_function(self, X: Any, **options: Any) -> Any:
        """Return the scores of each row, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        **options
            Other arguments of ``decision_function`` of the local model.

        Returns
        -------
        dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Of the kind of X; for two classes the score of ``classes_[1]``.
        """
        return self._lazily("decision_function", X, **options)

    def predict(self, X: Any, raw_score: bool = False, **options: Any) -> Any:
        """Return the label of each row by ``rule`` or ``aim``, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        raw_score : bool, default=False
            Whether to return scores.
        **options
            Other arguments of ``predict`` of the local model, except ``pred_leaf`` and
            ``pred_contrib``.

        Returns
        -------
        dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Of the kind of X.

        Raises
        ------
        ValueError
            If leaves or contributions are asked for, or the aim is a number of rows.
        """
        _refuse_shapes(options)
        return self._lazily("decision_function" if raw_score else "predict", X, **options)

    def predict_proba(self, X: Any, raw_score: bool = False, **options: Any) -> Any:
        """Return class probabilities of each row, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        raw_score : bool, default=False
            Whether to return scores.
        **options
            As in ``predict``.

        Returns
        -------
        dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Of the kind of X, with a column for each class.

        Raises
        ------
        ValueError
            If leaves or contributions are asked for.
        """
        _refuse_shapes(options)
        return self._lazily("decision_function" if raw_score else "predict_proba", X, **options)

    score = DaskBoostingMixin.score
    __sklearn_clone__ = DaskBoostingMixin.__sklearn_clone__


def _refuse_shapes(options: dict[str, Any]) -> None:
    for name in ("pred_leaf", "pred_contrib"):
        if options.get(name):
            raise ValueError(f"{name} is an option of to_local().predict, by partition")
