"""Linear classifiers on Dask collections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.distributed.clients import resolve_client
from immax.distributed.collections import align_collections, feature_names
from immax.distributed.dask_parts import place_parts
from immax.distributed.lazy_predictions import LazyPredictions
from immax.distributed.parted_classifiers import FittedToParts, PartedBaseline, PartedIMMAX
from immax.linear import BaselineClassifier, IMMAXClassifier
from immax.penalties.registry import Groups

__all__ = ["DaskBaselineClassifier", "DaskIMMAXClassifier"]


class DaskLinear(LazyPredictions, FittedToParts):
    """Fits to Dask collections, and lazy predictions for them."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows of all partitions.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
            Features; the blocks of an array are dense or CSR matrices. Chunks of unknown size and
            empty partitions are allowed.
        y : dask.array.Array or dask.dataframe.Series of shape (n,)
            Labels of any kind, in the partitions of X.
        sample_weight : dask.array.Array or dask.dataframe.Series, optional
            Non-negative. A weight of two counts as two samples, in the class counts too.

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
        self._fit_parts(place_parts(client, X, y, sample_weight))
        names = feature_names(X)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self


class DaskIMMAXClassifier(DaskLinear, PartedIMMAX):
    """``IMMAXClassifier`` on Dask collections: the same optimum, with the same certificate.

    The first two rounds find the classes and draw a sample of the rows, whose fit on the driver
    gives the start and the preconditioner. Each further round adds up the losses and gradients of
    all partitions, which stay where they are. Usually there are fewer than ten.

    Parameters
    ----------
    loss, form, lam, l1_ratio, groups, margins, weights, rule, costs, use_radii, fit_intercept
        As in IMMAXClassifier, but without the hinge and the max form of three classes or more.
    client : distributed.Client, optional
        By default the client in use. It is not pickled.
    penalty : {"l2"}, default="l2"
        The other penalties of IMMAXClassifier need data in memory.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        "newton" adds up Hessians in every round, and "lbfgs" never; "auto" does so when there are
        up to 300 coefficients and the curvature of the sample does not serve.
    tol, max_iter, random_state, warm_start
        As in IMMAXClassifier.

    Attributes
    ----------
    classes_, coef_, intercept_, margins_, weights_, objective_, gap_, n_iter_, n_features_used_
        As in IMMAXClassifier.
    n_rounds_ : int
        The number of rounds over all partitions.

    See Also
    --------
    immax.IMMAXClassifier : For data in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows, labels = da.from_array(scale(X), chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> with Client(processes=False, n_workers=1) as client:  # doctest: +SKIP
    ...     model = DaskIMMAXClassifier().fit(rows, labels)
    >>> bool(model.gap_ <= 1e-6 * model.objective_)  # doctest: +SKIP
    True
    """

    _local = IMMAXClassifier

    def __init__(
        self,
        loss: str = "logistic",
        *,
        client: Any = None,
        form: str = "auto",
        lam: float = 1e-3,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: Groups | None = None,
        margins: str | ArrayLike | Mapping[Any, float] = "theory",
        weights: str | ArrayLike | Mapping[Any, float] = "equal",
        rule: str = "score",
        costs: ArrayLike | None = None,
        use_radii: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        super().__init__(
            loss,
            form=form,
            lam=lam,
            penalty=penalty,
            l1_ratio=l1_ratio,
            groups=groups,
            margins=margins,
            weights=weights,
            rule=rule,
            costs=costs,
            use_radii=use_radii,
            fit_intercept=fit_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            warm_start=warm_start,
        )
        self.client = client


class DaskBaselineClassifier(DaskLinear, PartedBaseline):
    """``BaselineClassifier`` on Dask collections: the same optimum, with the same certificate.

    Parameters
    ----------
    method, method_params, lam, l1_ratio, groups, rule, costs, fit_intercept, random_state
        As in BaselineClassifier.
    client : distributed.Client, optional
        By default the client in use. It is not pickled.
    penalty, solver, tol, max_iter, warm_start
        As in DaskIMMAXClassifier.

    Attributes
    ----------
    classes_, spec_, coef_, intercept_, objective_, gap_, n_iter_, n_features_used_
        As in BaselineClassifier.
    n_rounds_ : int
        The number of rounds over all partitions.

    See Also
    --------
    immax.BaselineClassifier : For data in memory.
    """

    _local = BaselineClassifier

    def __init__(
        self,
        method: str = "ce",
        *,
        client: Any = None,
        method_params: Mapping[str, Any] | None = None,
        lam: float = 1e-3,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: Groups | None = None,
        rule: str = "score",
        costs: ArrayLike | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        super().__init__(
            method,
            method_params=method_params,
            lam=lam,
            penalty=penalty,
            l1_ratio=l1_ratio,
            groups=groups,
            rule=rule,
            costs=costs,
            fit_intercept=fit_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            warm_start=warm_start,
        )
        self.client = client
