"""Linear classifiers for Parquet files that are larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np

from immax.distributed.local_copies import copy_fit
from immax.distributed.parquet_batches import open_batches
from immax.distributed.parted_classifiers import PartedIMMAX
from immax.distributed.parted_search import PartedIMMAXCV
from immax.distributed.stream_parts import StreamParts
from immax.linear import IMMAXClassifier
from immax.search.classifier import IMMAXClassifierCV

__all__ = ["StreamIMMAXClassifier", "StreamIMMAXClassifierCV"]


class StreamIMMAXClassifier(PartedIMMAX):
    """``IMMAXClassifier`` for Parquet files: the same optimum, one record batch at a time.

    Every pass over the files is one round of the fit, and usually there are fewer than ten. The
    memory needed does not depend on the number of rows. Columns are numbers without missing
    values, and should be on similar scales; ``immax fit`` prepares tables of other kinds.

    Parameters
    ----------
    loss, form, lam, penalty, margins, weights, rule, costs, use_radii, fit_intercept, solver
        As in IMMAXClassifier, with the restrictions of DaskIMMAXClassifier.
    tol, max_iter, random_state, l1_ratio, groups, warm_start
        As in IMMAXClassifier.

    Attributes
    ----------
    classes_, coef_, intercept_, margins_, weights_, objective_, gap_, n_iter_, n_features_used_
        As in IMMAXClassifier.
    n_rounds_ : int
        The number of passes over the files.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> table = pd.DataFrame(scale(X)).add_prefix("x").assign(y=y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(f"{folder}/part0.parquet")
    ...     model = StreamIMMAXClassifier().fit(folder, "y")
    >>> bool(model.gap_ <= 1e-6 * model.objective_)
    True
    """

    def fit(  # type: ignore[override]
        self, path: str | Path, target: str, sample_weight: str | None = None
    ) -> Self:
        """Fit the model to a Parquet file, or to all files of a folder.

        Parameters
        ----------
        path : str or Path
            The file or folder.
        target : str
            The column of the labels.
        sample_weight : str, optional
            The column of the sample weights. All other columns are features.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a file cannot be read, or a parameter needs all rows in memory.
        """
        self._check_parted()
        batches = open_batches(path, target, sample_weight)
        self._fit_parts(StreamParts(batches.read))
        self.feature_names_in_ = np.array(batches.features, dtype=object)
        return self

    def to_local(self) -> IMMAXClassifier:
        """Return the fitted model as a plain IMMAXClassifier.

        Returns
        -------
        IMMAXClassifier
        """
        local: IMMAXClassifier = copy_fit(self, IMMAXClassifier)
        return local


class StreamIMMAXClassifierCV(PartedIMMAXCV):
    """``IMMAXClassifierCV`` for Parquet files: all cells and folds in the same passes.

    Parameters
    ----------
    loss, form, family, lams, n_margins, cv, scoring, aim, costs, rule, one_se, budget, refit
        As in DaskIMMAXClassifierCV.
    penalty, l1_ratio, groups, pos_label, evidence, fit_intercept, tol, max_iter, use_radii
        As in DaskIMMAXClassifierCV.
    n_jobs, random_state, verbose, memory
        As in DaskIMMAXClassifierCV.

    Attributes
    ----------
    best_margins_, best_weights_, best_lam_, best_rule_, best_score_, best_index_, cv_results_
        As in IMMAXClassifierCV.
    n_rounds_ : int
        The number of passes over the files.
    """

    def fit(  # type: ignore[override]
        self, path: str | Path, target: str, sample_weight: str | None = None
    ) -> Self:
        """Search, and fit the choice to all rows of a Parquet file or folder.

        Parameters
        ----------
        path : str or Path
            The file or folder.
        target : str
            The column of the labels.
        sample_weight : str, optional
            The column of the sample weights. All other columns are features.

        Returns
        -------
        self
        """
        self._check_parted()
        batches = open_batches(path, target, sample_weight)
        self._fit_parts(StreamParts(batches.read), np.array(batches.features, dtype=object))
        return self

    def fit_parts(self, parts: StreamParts, names: list[str] | None = None) -> Self:
        """Search, and fit the choice to rows from any source of batches.

        Parameters
        ----------
        parts : StreamParts
            The batches.
        names : list of str, optional
            The names of the features.

        Returns
        -------
        self
        """
        self._check_parted()
        self._fit_parts(parts, None if names is None else np.array(names, dtype=object))
        return self

    def to_local(self) -> IMMAXClassifierCV:
        """Return the fitted search as a plain IMMAXClassifierCV.

        Returns
        -------
        IMMAXClassifierCV
        """
        local: IMMAXClassifierCV = copy_fit(self, IMMAXClassifierCV)
        return local
