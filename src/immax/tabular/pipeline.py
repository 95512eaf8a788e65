"""The preprocessing of a table: typed columns, imputation, one-hot encoding and scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array
from immax.datasets.optional import optional_import
from immax.tabular.columns import NEEDS_PANDAS, Schema

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["TypedColumns", "prepare"]

MAX_CATEGORIES = 60  # columns that a categorical one becomes; rarer categories share one
MIN_FREQUENCY = 5  # rows of a category that has a column of its own
MISSING = "missing"  # the category of missing values
SECONDS_PER_DAY = 86_400


class TypedColumns(TransformerMixin, BaseEstimator):
    """Select columns and convert them: numbers to floats, dates to days, others to strings.

    Parameters
    ----------
    numbers : list of str, optional
        Columns to convert to floats; what is not a number is missing.
    dates : list of str, optional
        Columns to convert to days since 1970; what is not a date is missing.
    categories : list of str, optional
        Columns to convert to strings; missing values become a category.
    """

    def __init__(
        self,
        numbers: list[str] | None = None,
        dates: list[str] | None = None,
        categories: list[str] | None = None,
    ) -> None:
        self.numbers = numbers
        self.dates = dates
        self.categories = categories

    def fit(self, X: DataFrame, y: object = None) -> Self:  # noqa: ARG002
        """Do nothing: the columns are given as parameters.

        Parameters
        ----------
        X : DataFrame
            The table.
        y : object, default=None
            Ignored.

        Returns
        -------
        TypedColumns
            The transformer itself.
        """
        self.fitted_ = True
        return self

    def transform(self, X: DataFrame) -> DataFrame:
        """Select and convert the columns.

        Parameters
        ----------
        X : DataFrame
            The table; columns may be in any order.

        Returns
        -------
        DataFrame
        """
        check_is_fitted(self)
        pandas = optional_import("pandas", NEEDS_PANDAS)
        columns: dict[str, Series | Array] = {}
        for name in self.numbers or []:
            columns[name] = pandas.to_numeric(X[name], errors="coerce").astype(float)
        for name in self.dates or []:
            dates = pandas.to_datetime(X[name], errors="coerce", format="mixed", utc=True)
            stamps = dates.dt.tz_localize(None).to_numpy("datetime64[s]")
            seconds = stamps.astype(np.int64).astype(float)
            columns[name] = np.where(np.isnat(stamps), np.nan, seconds / SECONDS_PER_DAY)
        for name in self.categories or []:
            text = X[name].astype(object)
            columns[name] = text.where(text.isna(), text.map(str)).fillna(MISSING).astype(object)
        return pandas.DataFrame(columns, index=X.index)

    def get_feature_names_out(self, input_features: object = None) -> Array:  # noqa: ARG002
        """Return the names of the columns in the order of ``transform``.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        names = [*(self.numbers or []), *(self.dates or []), *(self.categories or [])]
        return np.array(names, dtype=object)


def prepare(schema: Schema) -> Pipeline:
    """Return the preprocessing pipeline for a schema.

    Numbers and dates are imputed by the median and standardised; categories and booleans are
    one-hot encoded. The pipeline is to be fitted to training data only, like any other step.

    Parameters
    ----------
    schema : Schema
        The columns of the table.

    Returns
    -------
    Pipeline

    Raises
    ------
    ValueError
        If no column can be used.
    """
    numbers, dates = schema.named("number"), schema.named("date")
    categories = schema.named("category", "boolean")
    if not (numbers or dates or categories):
        raise ValueError("no column can be used: all are texts, identifiers or constants")
    steps: list[tuple[str, BaseEstimator, list[str]]] = []
    if numbers or dates:
        scaled = Pipeline(
            [
                ("impute", SimpleImputer(strategy="median", keep_empty_features=True)),
                ("scale", StandardScaler()),
            ]
        )
        steps.append(("numbers", scaled, [*numbers, *dates]))
    if categories:
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=MIN_FREQUENCY,
            max_categories=MAX_CATEGORIES,
            sparse_output=False,
        )
        steps.append(("categories", encoder, categories))
    return Pipeline(
        [
            ("types", TypedColumns(numbers, dates, categories)),
            ("features", ColumnTransformer(steps)),
        ]
    )
