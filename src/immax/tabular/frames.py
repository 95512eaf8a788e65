"""Tables of polars and pyarrow as data frames of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["as_data_frame"]


def as_data_frame(table: Any) -> DataFrame:
    """Return a table as a data frame of pandas.

    The cells of polars and pyarrow keep their types: whole numbers with missing values, say, do not
    become floats.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table or pyarrow.RecordBatch
        A data frame of pandas is returned as it is.

    Returns
    -------
    DataFrame

    Raises
    ------
    WrongCall
        If it is something else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_data_frame(pa.table({"age": [31, None, 27]})).shape
    (3, 1)
    """
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return table
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    pandas = optional_import("pandas", NEEDS_ARROW)
    if not isinstance(table, (arrow.Table, arrow.RecordBatch)):
        if not hasattr(table, "to_arrow"):
            raise WrongCall(
                "a table must be a data frame of pandas or polars, or a table of pyarrow; got "
                f"{type(table).__module__}.{type(table).__name__}"
                + ("; call collect() first" if hasattr(table, "collect") else "")
            )
        table = table.to_arrow()
    return table.to_pandas(types_mapper=pandas.ArrowDtype)
