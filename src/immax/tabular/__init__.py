"""From a table to features: a schema of its columns, and the preprocessing that it implies."""

from immax.tabular.columns import Column, Schema, SchemaError, describe_columns
from immax.tabular.groups import column_groups, fit_prepared
from immax.tabular.labels import as_labels
from immax.tabular.pipeline import prepare

__all__ = [
    "Column",
    "Schema",
    "SchemaError",
    "as_labels",
    "column_groups",
    "describe_columns",
    "fit_prepared",
    "prepare",
]
