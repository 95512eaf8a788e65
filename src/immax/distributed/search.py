"""The search for margins and lambda on Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from immax.decisions import Aim
from immax.distributed.clients import resolve_client
from immax.distributed.collections import align_collections, feature_names
from immax.distributed.dask_parts import place_parts
from immax.distributed.lazy_predictions import LazyPredictions, has_local_proba
from immax.distributed.parted_search import PartedIMMAXCV
from immax.penalties.registry import Groups
from immax.search.base import EVIDENCE
from immax.search.classifier import IMMAXClassifierCV
from immax.search.folds import RandomState
from immax.search.margin_family import MarginFamily

__all__ = ["DaskIMMAXClassifierCV"]


class DaskIMMAXClassifierCV(LazyPredictions, PartedIMMAXCV):
    """``IMMAXClassifierCV`` on Dask collections: all cells and folds in the same rounds.

    The partitions stay where they are. A round evaluates every combination of margins, lambda and
    fold that has not converged yet, and one more scores all of them. A hash of a row's position
    says in which fold it is held out, so that nothing is shuffled.

    Parameters
    ----------
    loss, form, family, lams, n_margins, one_se, budget, refit, costs, pos_label, evidence
        As in IMMAXClassifierCV; losses are smooth, and of three classes or more in the sum form.
    client : distributed.Client, optional
        By default the client in use. It is not pickled.
    penalty : {"l2"}, default="l2"
        The other penalties of IMMAXClassifierCV need data in memory.
    cv : int, default=5
        The number of folds.
    scoring : {"accuracy", "balanced_accuracy", "neg_log_loss"} or None, default="accuracy"
        By what cells are compared.
    aim : str or Aim, optional
        What decisions are for; its rule must not need a fit to held-out rows.
    rule, fit_intercept, tol, max_iter, use_radii, random_state, l1_ratio, groups, n_jobs, verbose
        As in IMMAXClassifierCV; the last two are not used.
    memory : None
        Anything else is refused: results of folds are stored under a hash of their rows, which
        are not read in one place.

    Attributes
    ----------
    best_margins_, best_weights_, best_lam_, best_rule_, best_score_, best_index_, cv_results_
        As in IMMAXClassifierCV.
    best_estimator_, probability_estimator_ : IMMAXClassifier
        Local models, fitted to the rows of all partitions.
    n_rounds_ : int
        The number of times that all partitions were asked for something.

    See Also
    --------
    immax.IMMAXClassifierCV : For data in memory.
    DaskIMMAXClassifier : The model with given margins and lambda.
    """

    _local = IMMAXClassifierCV

    def __init__(
        self,
        loss: str = "logistic",
        *,
        client: Any = None,
        family: str | MarginFamily = "auto",
        lams: ArrayLike | None = None,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: Groups | None = None,
        n_margins: int = 10,
        cv: int = 5,
        scoring: Any = "accuracy",
        rule: str = "auto",
        one_se: bool | str = "auto",
        budget: int = 4000,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        refit: bool | str = True,
        verbose: int = 0,
        aim: str | Aim | Callable[..., float] | None = None,
        costs: ArrayLike | None = None,
        pos_label: object = None,
        evidence: float = EVIDENCE,
        form: str = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        use_radii: bool = False,
        memory: None = None,
    ) -> None:
        super().__init__(
            loss,
            family=family,
            lams=lams,
            penalty=penalty,
            l1_ratio=l1_ratio,
            groups=groups,
            n_margins=n_margins,
            cv=cv,
            scoring=scoring,
            rule=rule,
            one_se=one_se,
            budget=budget,
            n_jobs=n_jobs,
            random_state=random_state,
            refit=refit,
            verbose=verbose,
            aim=aim,
            costs=costs,
            pos_label=pos_label,
            evidence=evidence,
            form=form,
            fit_intercept=fit_intercept,
            tol=tol,
            max_iter=max_iter,
            use_radii=use_radii,
            memory=memory,
        )
        self.client = client

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> Self:
        """Search, and fit the choice to the rows of all partitions.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features, as in DaskIMMAXClassifier.
        y : dask.array.Array or dask.dataframe.Series of shape (n,)
            Labels of any kind, in the partitions of X.
        sample_weight : dask.array.Array or dask.dataframe.Series, optional
            Non-negative weights of the losses and of the scores.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a partition cannot be read, or a parameter needs all rows in memory.
        ClusterError
            If the cluster is lost.
        """
        self._check_parted()
        client = resolve_client(self.client)
        X, y, sample_weight = align_collections(X, y, sample_weight)
        self._fit_parts(place_parts(client, X, y, sample_weight), feature_names(X))
        return self

    @available_if(has_local_proba)
    def decision_proba(self, X: Any) -> Any:
        """Return the class probabilities that decisions are made by, lazily.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features.

        Returns
        -------
        dask.array.Array or dask.dataframe.DataFrame
        """
        return self._lazily("decision_proba", X)
