"""Cells and records of experiments, made by hand."""

import lzma
from pathlib import Path

import numpy as np

from immax.bench.cells import DataSpec, EstimatorCell, Variant
from immax.bench.outcomes import CellResult, HeldOutResult, Record
from immax.evaluation.selection import Selection

ROOT = Path(__file__).parents[2]
NONE = Variant(kind="none")


def cell(method="immax", run=0, variant=NONE, model="linear", data="cifar10", **grid):
    spec = DataSpec(data, features="pixels")
    return EstimatorCell(spec, variant, ("imbalanced",), model, method, Selection(), grid, run)


def record(method, run=0, variant=NONE, model="linear", labels=None, **metrics):
    """Labels are pairs of predicted and true ones."""
    predicted, truth = (None, None) if labels is None else map(np.asarray, labels)
    result = CellResult({}, {"imbalanced": HeldOutResult(metrics, predicted, truth)})
    return Record(cell(method, run, variant, model), "done", result, 1.0, 1.0, {"python": "3"})


def old_store(path):
    """Write a store of format 1, which the first version has made."""
    content = lzma.decompress((ROOT / "tests" / "data" / "store-1.db.xz").read_bytes())
    path.write_bytes(content)
    return path
