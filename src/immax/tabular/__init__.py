"""From a table of data to features: what columns are, and one pipeline that prepares them."""

from immax.tabular.columns import Column, Schema, SchemaError, describe_columns
from immax.tabular.labels import as_labels
from immax.tabular.pipeline import prepare

__all__ = ["Column", "Schema", "SchemaError", "as_labels", "describe_columns", "prepare"]
