"""From a table of data to features: what columns are, and one pipeline that prepares them."""

from immax.tabular.columns import Column, Schema, SchemaError, describe_columns
from immax.tabular.pipeline import prepare

__all__ = ["Column", "Schema", "SchemaError", "describe_columns", "prepare"]
