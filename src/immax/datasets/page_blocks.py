"""A real imbalanced table that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from immax.datasets.tables import read_table

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["PAGE_BLOCKS", "load_page_blocks"]

PAGE_BLOCKS = Path(__file__).parent / "data" / "page-blocks.csv.xz"


def load_page_blocks() -> tuple[DataFrame, Series]:
    """Load the page blocks data set: blocks of printed pages that are text, or something else.

    It has 5,472 blocks of 54 documents, described by ten numbers each; about one in ten is not
    text but a line, a picture or a graphic. These four classes are merged into one, as in the KEEL
    repository, and the columns have longer names.

    Returns
    -------
    X : DataFrame
        The features.
    y : Series
        "text" or "other".

    References
    ----------
    D. Malerba, *Page Blocks Classification*, UCI Machine Learning Repository, 1995,
    doi 10.24432/C5J590, licence CC BY 4.0.

    Examples
    --------
    >>> X, y = load_page_blocks()
    >>> X.shape, y.value_counts().to_dict()
    ((5472, 10), {'text': 4913, 'other': 559})
    """
    return read_table(PAGE_BLOCKS, "kind")
