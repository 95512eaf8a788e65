"""From a table to features: a schema of its columns, reading by it, and preprocessing."""

from immax.tabular.columns import Column, Schema, SchemaError
from immax.tabular.groups import fit_prepared
from immax.tabular.inference import describe_columns
from immax.tabular.labels import as_labels
from immax.tabular.number_formats import NumberFormat
from immax.tabular.pipeline import prepare
from immax.tabular.reading import (
    TrainingTable,
    read_by_schema,
    read_labelled,
    read_training_table,
)
from immax.tabular.reading_options import ReadingOptions

__all__ = [
    "Column",
    "NumberFormat",
    "ReadingOptions",
    "Schema",
    "SchemaError",
    "TrainingTable",
    "as_labels",
    "describe_columns",
    "fit_prepared",
    "prepare",
    "read_by_schema",
    "read_labelled",
    "read_training_table",
]
