"""IMMAX and the methods of the catalogue for XGBoost on Dask collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from immax.arrays import Array
from immax.boosting.boosters import attach
from immax.boosting.description import Description
from immax.boosting.estimator import check_library_parameters
from immax.boosting.eval_metrics import EvalMetric, EvaluatedSample, find_metrics
from immax.boosting.loss import BoostingLoss
from immax.boosting.pairs import hessian_factor
from immax.boosting.xgboost import RAW_SCORES, RESERVED, IMMAXXGBClassifier, mark_booster
from immax.distributed.clients import resolve_client
from immax.distributed.collections import align_collections, count_classes, encode_labels
from immax.distributed.predictions import DaskBoostingMixin, LabelEncoder

try:
    from xgboost import DMatrix, collective
    from xgboost import dask as xgboost_dask
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs XGBoost: pip install "immax[boosting]"') from error

__all__ = ["DaskIMMAXXGBClassifier"]


class DaskIMMAXXGBClassifier(IMMAXXGBClassifier, DaskBoostingMixin):
    """``IMMAXXGBClassifier`` on Dask collections, trained by ``xgboost.dask``.

    The margins come from the class counts of all partitions, and so do the scores that boosting
    begins with; a worker sees the labels of its own rows only.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the client in use. It is not pickled.
    **kwargs
        Parameters of IMMAXXGBClassifier. Aims need a rule in closed form, such as costs or
        balanced accuracy. ``eval_metric`` is a log-loss, an error or the margin loss, which are
        put together exactly from the workers' samples.

    Attributes
    ----------
    margins_, loss_, rule_
        As of IMMAXXGBClassifier.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows, labels = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> with Client(processes=False, n_workers=1) as client:  # doctest: +SKIP
    ...     model = DaskIMMAXXGBClassifier(n_estimators=10).fit(rows, labels)
    >>> bool(model.to_local().score(X, y) > 0.95)  # doctest: +SKIP
    True
    """

    def __init__(self, *, client: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.client = client

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # a connection is of this process alone

    def get_xgb_params(self) -> dict[str, Any]:
        """Return XGBoost's own parameters, without those of the loss and the client.

        Returns
        -------
        dict
        """
        params = super().get_xgb_params()
        params.pop("client", None)
        return params

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        verbose: int | bool = False,
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
        eval_set : sequence of (X, y), optional
            Evaluation sets.
        sample_weight_eval_set : sequence of Dask collections, optional
            Sample weights of the evaluation sets.
        verbose : int or bool, default=False
            Whether, or how often, metrics are printed.

        Returns
        -------
        DaskIMMAXXGBClassifier
            The fitted estimator.
        """
        check_library_parameters(self.get_params(), RESERVED, "n_estimators")
        client = resolve_client(self.client)
        X, y, sample_weight = align_collections(X, y, sample_weight)
        early = self._make_distributed_loss(y, sample_weight)
        loss = early.loss
        evaluate = _evaluation(self.eval_metric, early)
        weights = sample_weight_eval_set or [None] * len(eval_set or ())
        matrices = [
            self._matrix(client, data, labels, own, loss, f"eval_set[{number}]")
            for number, ((data, labels), own) in enumerate(
                zip(eval_set or (), weights, strict=True)
            )
        ]
        names = [f"validation_{number}" for number in range(len(matrices))]
        trained = xgboost_dask.train(
            client,
            self._training_parameters(loss),
            self._matrix(client, X, y, sample_weight, loss, "y"),
            num_boost_round=self.get_num_boosting_rounds(),
            evals=list(zip(matrices, names, strict=True)),
            obj=_Objective(loss),
            custom_metric=evaluate if matrices else None,
            early_stopping_rounds=self.early_stopping_rounds,
            callbacks=self.callbacks,
            verbose_eval=verbose,
        )
        self._Booster = trained["booster"]
        self.n_classes_ = len(loss.classes)
        self._set_evaluation_result(trained["history"])
        self._set_loss(loss, self._distributed_rule(loss))
        attach(self.get_booster(), self._description())
        mark_booster(self.get_booster())
        return self

    def _matrix(
        self, client: Any, X: Any, y: Any, weight: Any, loss: BoostingLoss, name: str
    ) -> Any:
        X, y, weight = align_collections(X, y, weight, name)
        if name != "y":  # XGBoost would hide the error of a worker
            loss.encode(count_classes(y, None, client)[0], name)
        return xgboost_dask.DaskDMatrix(
            client,
            X,
            encode_labels(y, LabelEncoder(loss, name)),
            weight=weight,
            missing=self.missing,
            feature_types=self.feature_types,
            enable_categorical=self.enable_categorical,
        )

    def _training_parameters(self, loss: BoostingLoss) -> dict[str, Any]:
        given = {name: value for name, value in self.get_xgb_params().items() if value is not None}
        given.pop("eval_metric", None)  # which is passed as a function
        several = {} if loss.binary else {"num_class": len(loss.classes)}
        return {
            **given,
            **several,
            "objective": RAW_SCORES,
            "base_score": loss.constants.tolist(),
            "disable_default_eval_metric": True,
        }

    def to_local(self) -> IMMAXXGBClassifier:
        """Return the fitted model as an IMMAXXGBClassifier, for data in memory.

        Returns
        -------
        IMMAXXGBClassifier
        """
        loss = self._fitted_loss()
        params = self.get_params()
        del params["client"]
        local = IMMAXXGBClassifier(**params)
        local._Booster = self.get_booster()
        local.n_classes_ = self.n_classes_
        local._set_loss(loss, self._aim_rule)
        if hasattr(self, "evals_result_"):
            local.evals_result_ = self.evals_result_
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

    def predict(self, X: Any, output_margin: bool = False, **options: Any) -> Any:
        """Return the label of each row by ``rule`` or ``aim``, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        output_margin : bool, default=False
            Whether to return scores.
        **options
            Other arguments of ``predict`` of the local model.

        Returns
        -------
        dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Of the kind of X.

        Raises
        ------
        ValueError
            If the aim is a number of rows.
        """
        return self._lazily("decision_function" if output_margin else "predict", X, **options)

    def predict_proba(self, X: Any, **options: Any) -> Any:
        """Return class probabilities of each row, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        **options
            Other arguments of ``predict_proba`` of the local model.

        Returns
        -------
        dask.array.Array or dask.dataframe.DataFrame
            With a column for each class.
        """
        return self._lazily("predict_proba", X, **options)

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """Raise NotImplementedError: the leaves are those of ``to_local()``.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.
        iteration_range : tuple of int, optional
            As in XGBoost.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("apply is a method of to_local(), by partition")

    score = DaskBoostingMixin.score
    __sklearn_clone__ = DaskBoostingMixin.__sklearn_clone__

    def _score_type(self) -> Any:
        return np.float32


class _Objective:
    """The objective of the rows of a worker."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._loss = loss

    def __call__(self, scores: Array, data: DMatrix) -> tuple[Array, Array]:
        labels, weight = data.get_label().astype(np.intp), data.get_weight()
        factor = hessian_factor("xgboost", len(self._loss.classes))
        return self._loss.pairs(scores, labels, weight if weight.size else None, factor)


def _evaluation(given: object, description: Description) -> Callable[..., Any]:
    metrics = find_metrics(given, "xgboost", len(description.loss.classes))
    for metric in metrics:
        if not isinstance(metric, EvalMetric) or not metric.is_mean:
            name = getattr(metric, "name", getattr(metric, "__name__", metric))
            raise ValueError(
                f"the metric {name!r} of all rows does not follow from those of the workers; use "
                "logloss, error or margin_loss"
            )
    return _Evaluation(metrics, description)  # type: ignore[arg-type]


class _Evaluation:
    """Means over the samples of all workers, each of which evaluates its own."""

    def __init__(self, metrics: list[EvalMetric], description: Description) -> None:
        self._metrics, self._description = metrics, description

    def __call__(self, scores: Array, data: DMatrix) -> list[tuple[str, float]]:
        labels, weight = data.get_label().astype(np.intp), data.get_weight()
        weights = weight if weight.size else None
        total = float(len(labels) if weights is None else weights.sum())
        sample = EvaluatedSample(self._description, scores, labels, weights)
        sums = [total * metric.compute(sample) if total else 0.0 for metric in self._metrics]
        together = collective.allreduce(np.array([*sums, total]), collective.Op.SUM)
        means = (together[:-1] / together[-1]).tolist()
        return [(metric.name, mean) for metric, mean in zip(self._metrics, means, strict=True)]
