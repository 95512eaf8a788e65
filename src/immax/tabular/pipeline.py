"""The preprocessing of a table: typed columns, imputation, one-hot encoding and scaling."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array
from immax.optional import optional_import
from immax.tabular.columns import Column, Schema
from immax.tabular.conversion import convert_frame
from immax.tabular.frames import as_data_frame
from immax.tabular.number_formats import NEEDS_ARROW

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["TableFeatures", "TypedColumns", "prepare"]

MAX_CATEGORIES = 60  # columns that a categorical one becomes; rarer categories share one
MIN_FREQUENCY = 5  # rows of a category that has a column of its own
MISSING = "missing"  # the category of missing values
SECONDS_PER_DAY = 86_400


class TypedColumns(TransformerMixin, BaseEstimator):
    """Select columns and convert them: numbers to floats, dates to days, others to strings.

    Every cell is converted by itself, in the way that the description of its column says.

    Parameters
    ----------
    numbers : list of str, optional
        Columns to convert to floats.
    dates : list of str, optional
        Columns to convert to days since 1970.
    categories : list of str, optional
        Columns to convert to strings; missing values become a category.
    columns : str, optional
        The descriptions of these columns, the list of ``Schema.to_list`` as JSON. Without them,
        strings are read as version 0.1 did.
    """

    columns: str | None = None  # files of earlier versions do not have it

    def __init__(
        self,
        numbers: list[str] | None = None,
        dates: list[str] | None = None,
        categories: list[str] | None = None,
        columns: str | None = None,
    ) -> None:
        self.numbers = numbers
        self.dates = dates
        self.categories = categories
        self.columns = columns

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
        pandas = optional_import("pandas", NEEDS_ARROW)
        X = as_data_frame(X)
        typed = convert_frame(X, self.described_columns())
        columns: dict[str, Array] = {}
        for name in self.numbers or []:
            columns[name] = typed[name].to_numpy(np.float64)
        for name in self.dates or []:
            stamps = typed[name].to_numpy("datetime64[s]")
            seconds = stamps.astype(np.int64).astype(float)
            columns[name] = np.where(np.isnat(stamps), np.nan, seconds / SECONDS_PER_DAY)
        for name in self.categories or []:
            values = typed[name].to_numpy(object)
            columns[name] = np.array(
                [MISSING if value is None else str(value) for value in values], dtype=object
            )
        return pandas.DataFrame(
            {name: pandas.Series(own, X.index, own.dtype) for name, own in columns.items()},
            index=X.index,
        )

    def described_columns(self) -> list[Column]:
        """Return the columns, and how they are read.

        Returns
        -------
        list of Column
        """
        if self.columns is not None:
            return [Column.from_dict(column) for column in json.loads(self.columns)]
        kinds = {"number": self.numbers, "date": self.dates, "category": self.categories}
        return [Column(name, kind) for kind, names in kinds.items() for name in names or []]

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


class TableFeatures(ColumnTransformer):
    """The features of typed columns: scaled numbers, and categories one-hot encoded.

    Attributes
    ----------
    variables_ : ndarray of str, shape (n_features,)
        The column that each feature comes from. Those that one category column becomes have one
        name: they are a group.
    """

    @property
    def variables_(self) -> Array:
        """Return the column that each feature comes from."""
        check_is_fitted(self)
        variables: list[str] = []
        for name, transformer, columns in self.transformers_:
            if name == "categories":
                sizes = _one_hot_sizes(transformer)
                variables += np.repeat(np.array(columns, dtype=object), sizes).tolist()
            elif name == "numbers":
                variables += list(columns)
        return np.array(variables, dtype=object)


def _one_hot_sizes(encoder: OneHotEncoder) -> list[int]:
    """Return the number of features of each column of a fitted encoder."""
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    return [
        len(categories) - (0 if rare is None else len(rare) - 1)
        for categories, rare in zip(encoder.categories_, infrequent, strict=True)
    ]


def prepare(schema: Schema) -> Pipeline:
    """Return the preprocessing pipeline for a schema.

    Numbers and dates are imputed by the median and standardised; categories and booleans are
    one-hot encoded. The pipeline is to be fitted to training data only, like any other step. After
    that, ``pipeline["features"].variables_`` names the column that each feature comes from.

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

    Examples
    --------
    >>> import pandas as pd
    >>> from immax.tabular import describe_columns
    >>> frame = pd.DataFrame({"age": [31, 45, 27] * 5, "city": ["Aix", "Bonn", "Aix"] * 5})
    >>> pipeline = prepare(describe_columns(frame)).fit(frame)
    >>> pipeline["features"].variables_.tolist()
    ['age', 'city', 'city']
    """
    numbers, dates = schema.named("number"), schema.named("date")
    categories = schema.named("category", "boolean")
    if not (numbers or dates or categories):
        raise ValueError(
            "no column can be used: all are texts, identifiers, constants or not supported"
        )
    columns = json.dumps([column.to_dict() for column in schema.used()])
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
            ("types", TypedColumns(numbers, dates, categories, columns)),
            ("features", TableFeatures(steps)),
        ]
    )
