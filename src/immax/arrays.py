"""The types of arrays that signatures name."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Features", "Vector"]

Array: TypeAlias = NDArray[Any]
"""An array of any dtype."""

Vector: TypeAlias = NDArray[np.float64]
"""A one-dimensional array of double precision."""

Features: TypeAlias = Any
"""Rows of features: an ndarray, a CSR matrix, or a data frame. SciPy's matrices have no types."""
