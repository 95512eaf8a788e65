"""What the distributed boosting estimators share: parameters, lazy predictions, local copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.boosting.description import Description
from immax.boosting.estimator import BoostingLossMixin
from immax.boosting.loss import BoostingLoss, loss_from_counts
from immax.boosting.rule_choice import closed_form_rule
from immax.decisions.decided_model import check_decides
from immax.decisions.rules import Rule
from immax.distributed.clients import ClientParameter, resolve_client
from immax.distributed.collections import align_collections, count_classes, map_rows
from immax.distributed.lazy_calls import LazyCall, mean_accuracy
from immax.validation import check_choice

__all__ = ["DaskBoostingMixin", "LabelEncoder"]

METHODS = ("predict", "predict_proba", "decision_function")


class DaskBoostingMixin(ClientParameter, BoostingLossMixin):
    """Margins from the class counts of all partitions, and predictions by partition."""

    random_state: Any

    def _make_distributed_loss(self, y: Any, weight: Any) -> Description:
        """Return the loss for the classes of all partitions, with the rule of the aim."""
        aim = self._resolved_aim()
        classes, counts = count_classes(y, weight, resolve_client(self.client))
        if len(classes) < 2:
            raise ValueError(f"y must hold at least two classes; got {classes.tolist()}")
        if not (counts > 0).all():
            raise ValueError("every class needs a positive total sample_weight")
        seed = self.random_state if isinstance(self.random_state, (int, np.integer)) else 0
        loss = loss_from_counts(classes, counts, int(seed), self._loss_parameters())
        if aim is not None and closed_form_rule(aim, loss.classes, loss.shares) is None:
            raise ValueError(
                f"the rule for the aim {aim.name!r} has to be fitted to held-out samples: fit "
                "without aim, then DecisionClassifierCV(model.to_local(), aim, cv='prefit')"
                ".fit(X_held_out, y_held_out)"
            )
        return self._early_description(loss, aim)

    def _distributed_rule(self, loss: BoostingLoss) -> Rule | None:
        aim = self._resolved_aim()
        return None if aim is None else closed_form_rule(aim, loss.classes, loss.shares)

    def to_local(self) -> Any:
        """Return the fitted model as an estimator of ``immax.boosting``, for data in memory.

        Returns
        -------
        estimator
        """
        raise NotImplementedError

    def _lazily(self, method: str, X: Any, **options: Any) -> Any:
        """Return a prediction for each row of a collection, lazily."""
        check_choice("method", method, METHODS)
        loss = self._fitted_loss()
        local = self.to_local()
        c = len(loss.classes)
        columns = None
        if method == "predict":
            abstains = local.rule_ is not None and local.rule_.abstains
            sample = np.empty(0, dtype=object if abstains else loss.classes.dtype)
        elif method == "decision_function" and loss.binary:
            sample = np.empty(0, dtype=self._score_type())
        else:
            columns = loss.classes.tolist()
            sample = np.empty((0, c), dtype=self._score_type())
        if local.rule_ is not None and local.rule_.count is not None and method == "predict":
            raise ValueError(
                "the aim is a number of rows of one call, which partitions do not know; use "
                "Budget(share=…), or choose among the values of predict_proba"
            )
        return map_rows(LazyCall(local, method, options), X, sample, columns)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the labels.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
        y : dask.array.Array or dask.dataframe.Series
        sample_weight : dask.array.Array or dask.dataframe.Series, optional

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the aim has a cost of not deciding, so that some labels are None.
        """
        check_decides(self)
        X, y, sample_weight = align_collections(X, y, sample_weight)
        return mean_accuracy(
            self._lazily("predict", X), y, sample_weight, resolve_client(self.client)
        )

    def _score_type(self) -> Any:
        return np.float64


class LabelEncoder:
    """Class indices of labels, on a worker.

    Parameters
    ----------
    loss : BoostingLoss
    name : str
        What errors call the labels.
    """

    def __init__(self, loss: BoostingLoss, name: str) -> None:
        self._loss, self._name = loss, name

    def __call__(self, labels: Array) -> Array:
        return self._loss.encode(labels, self._name)
