"""The focal factor and its derivatives for compiled kernels.

``immax.losses.focal`` has the formulas; here the same functions are made callable from compiled
code, where they are inlined.
"""

from __future__ import annotations

from numba.extending import register_jitable

from immax.losses.focal import bound_probability, focal_curvature, focal_factor, focal_slope

__all__ = ["focal_curvature", "focal_factor", "focal_slope"]

for function in (bound_probability, focal_factor, focal_slope, focal_curvature):
    register_jitable(error_model="numpy", fastmath={"contract", "nsz"})(function)
