"""A real imbalanced table that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from immax.datasets.tables import read_table

__all__ = ["PAGE_BLOCKS", "load_page_blocks"]

PAGE_BLOCKS = Path(__file__).parent / "data" / "page-blocks.csv.xz"


def load_page_blocks() -> tuple[Any, Any]:
    """Blocks of printed pages: text, or something else (lines, pictures, graphics), one in ten.

    5,472 blocks that a segmentation found in 54 documents, with ten numbers for each. From
    D. Malerba, *Page Blocks Classification*, UCI Machine Learning Repository (1995),
    doi 10.24432/C5J590, licence CC BY 4.0; the four kinds that are not text are put together as in
    the KEEL repository, and the columns have longer names.

    Returns
    -------
    X : DataFrame
    y : Series
        "text" or "other".

    Examples
    --------
    >>> X, y = load_page_blocks()
    >>> X.shape, y.value_counts().to_dict()
    ((5472, 10), {'text': 4913, 'other': 559})
    """
    return read_table(PAGE_BLOCKS, "kind")
