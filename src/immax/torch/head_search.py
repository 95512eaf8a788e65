"""The search of λ and margins for a head, with as many digits as a choice needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from immax.arrays import Vector
from immax.search import IMMAXClassifierCV
from immax.search.cells import Cells, LinearCells
from immax.search.criteria import Purpose
from immax.search.families import PowerFamily
from immax.search.margin_family import MarginFamily
from immax.search.samples import SearchSamples
from immax.torch.head_data import Selection

__all__ = ["POWERS", "HeadSearch", "search_head"]

POWERS = (-1 / 3, -1 / 6, 0.0, 1 / 6, 1 / 3)
SEARCH_TOL, ROUGH_TOL = 1e-3, 1e-2  # of the fits of a search; the second one of large features
LARGE = 10**9  # features times classes, from which on λ and margins are searched one by one


class HeadSearch(IMMAXClassifierCV):
    """``IMMAXClassifierCV`` with fits that are as precise as a choice among cells needs."""

    def _cells(self, samples: SearchSamples, purpose: Purpose) -> Cells:
        cells = super()._cells(samples, purpose)
        if not isinstance(cells, LinearCells):
            return cells
        large = samples.X.size * len(samples.classes) >= LARGE
        tol = max(cells.fits.tol, ROUGH_TOL if large else SEARCH_TOL)
        return replace(cells, fits=replace(cells.fits, tol=tol))


def search_head(
    pool: Selection, family: MarginFamily, lams: Vector, n_classes: int, **options: Any
) -> HeadSearch:
    """Search λ and margins; nothing is fitted to all samples.

    Every combination is tried. Where the features are large and margins are powers of the class
    counts, λ is chosen with equal margins first, and then the margins at that λ.

    Parameters
    ----------
    pool : Selection
        Samples and folds.
    family : MarginFamily
        The margins to search among.
    lams : ndarray
        Values of λ.
    n_classes : int
        The number of classes.
    **options
        Of IMMAXClassifierCV.

    Returns
    -------
    HeadSearch
        Fitted, with ``refit=False``.
    """
    cv = 5 if pool.cv is None else pool.cv

    def searched(members: MarginFamily, values: Vector) -> HeadSearch:
        search = HeadSearch(family=members, lams=values, cv=cv, refit=False, **options)
        return search.fit(pool.X, pool.y)

    several = isinstance(family, PowerFamily) and len(family.values) > 1 and len(lams) > 1
    if several and pool.X.size * n_classes >= LARGE:
        lams = np.array([searched(PowerFamily(values=(0.0,)), lams).best_lam_])
    return searched(family, lams)
