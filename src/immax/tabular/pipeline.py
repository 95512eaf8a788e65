"""One pipeline that prepares a table: typed, imputed, encoded, scaled."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from immax.datasets.optional import optional_import
from immax.tabular.columns import Schema

__all__ = ["TypedColumns", "prepare"]

MOST_CATEGORIES = 60  # of a column; rarer ones share a column
RAREST = 5  # rows of a category that has a column of its own
MISSING = "missing"


class TypedColumns(TransformerMixin, BaseEstimator):
    """Numbers as floats, dates as days, all else as strings; other columns are dropped.

    Parameters
    ----------
    numbers, dates, categories : list of str
        Names of columns.
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

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        pandas = optional_import("pandas", "tables need pandas: pip install immax[bench]")
        columns = {}
        for name in self.numbers or []:
            columns[name] = pandas.to_numeric(X[name], errors="coerce").astype(float)
        for name in self.dates or []:
            days = pandas.to_datetime(X[name], errors="coerce", format="mixed", utc=True)
            stamps = days.dt.tz_localize(None).to_numpy("datetime64[s]")
            seconds = stamps.astype(np.int64).astype(float)
            columns[name] = np.where(np.isnat(stamps), np.nan, seconds / 86_400)
        for name in self.categories or []:
            text = X[name].astype(object)
            columns[name] = text.where(text.isna(), text.map(str)).fillna(MISSING).astype(object)
        return pandas.DataFrame(columns, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        names = [*(self.numbers or []), *(self.dates or []), *(self.categories or [])]
        return np.array(names, dtype=object)


def prepare(schema: Schema) -> Pipeline:
    """The pipeline for a schema, to be fitted inside the folds like any other step."""
    numbers, dates = schema.named("number"), schema.named("date")
    categories = schema.named("category", "boolean")
    if not (numbers or dates or categories):
        raise ValueError("no column can be used: all are texts, identifiers or constants")
    steps: list[tuple[str, Any, list[str]]] = []
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
            min_frequency=RAREST,
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        )
        steps.append(("categories", encoder, categories))
    return Pipeline(
        [
            ("types", TypedColumns(numbers, dates, categories)),
            ("features", ColumnTransformer(steps)),
        ]
    )
