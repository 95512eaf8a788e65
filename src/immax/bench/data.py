"""The data of a cell: a training set, and one or more test sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax import datasets
from immax.arrays import Array
from immax.bench.cells import Cell, DataSpec, Variant
from immax.bench.features import patch_features, pixel_features, reduce_images
from immax.datasets import ImageData, class_shares, keep_shares
from immax.datasets.registry import COLLECTIONS
from immax.validation import nearest

__all__ = ["Split", "load_split"]

FEWEST = 10  # samples of a class that are kept when a table is reduced


@dataclass(frozen=True)
class Split:
    """A training set and its test sets.

    Parameters
    ----------
    X : ndarray of shape (n, ...)
    y : ndarray of shape (n,)
        Class codes.
    tests : mapping of str to (ndarray, ndarray)
        Samples and class codes of each test set.
    class_names : tuple of str
    """

    X: Array
    y: Array
    tests: Mapping[str, tuple[Array, Array]]
    class_names: tuple[str, ...]

    @property
    def counts(self) -> Array:
        """The number of training samples of each class."""
        return np.bincount(self.y, minlength=len(self.class_names))


def load_split(
    cell: Cell,
    data_dir: str | None,
    run: int,
    *,
    flat: bool,
    download: bool = False,
) -> Split:
    """Return what a cell is trained and tested on.

    Parameters
    ----------
    cell : Cell
    data_dir : str or None
        The directory of the data files.
    run : int
        Seeds which samples are kept.
    flat : bool
        True for features for estimators, False for images for networks.
    download : bool, default=False
        Whether to download data that are not there.

    Returns
    -------
    Split
    """
    if cell.data.name == "table" or cell.data.name in COLLECTIONS:
        return _table_split(cell.data, cell.variant, data_dir, run)
    return _image_split(cell.data, cell.variant, cell.tests, data_dir, run, flat, download)


@lru_cache(maxsize=2)
def _image_split(
    data: DataSpec,
    variant: Variant,
    tests: tuple[str, ...],
    data_dir: str | None,
    run: int,
    flat: bool,
    download: bool,
) -> Split:
    images = _images(data.name, data_dir, download)
    y_train, y_test, names = images.y_train, images.y_test, images.class_names
    train, test = np.arange(len(y_train)), np.arange(len(y_test))
    if data.share < 1:
        equal = np.full(len(names), data.share)
        train = keep_shares(y_train, equal, random_state=run)
        test = keep_shares(y_test, equal, random_state=run)
    rows = {"balanced": test, "imbalanced": test, "weighted": test}
    if variant.class_name is not None:
        own = variant.class_name
        if own not in names:
            raise ValueError(f"{data.name} has no class {own!r}{nearest(own, names)}")
        positive = names.index(own)
        y_train, y_test = (y_train == positive).astype(int), (y_test == positive).astype(int)
        names = (f"not {own}", own)
    elif variant.kind is not None and variant.ratio is not None:
        minority = 0.5 if variant.minority is None else variant.minority
        shares = class_shares(len(names), variant.kind, variant.ratio, minority)
        train = train[keep_shares(y_train[train], shares, random_state=run)]
        rows["imbalanced"] = test[keep_shares(y_test[test], shares, random_state=run)]
    X = images.X_train[train]
    held = {name: images.X_test[rows[name]] if name in rows else X for name in tests}
    if data.size is not None:
        X, *reduced = (reduce_images(own, data.size) for own in (X, *held.values()))
        held = dict(zip(held, reduced, strict=True))
    if flat:
        parts = [X, *held.values()]
        if data.patches is not None:
            parts = patch_features(*parts, patches=data.patches, seed=run)
        else:
            parts = pixel_features(*parts)
        X, held = parts[0], dict(zip(held, parts[1:], strict=True))
    y = y_train[train]
    labelled = {name: (held[name], y_test[rows[name]] if name in rows else y) for name in tests}
    return Split(X, y, labelled, tuple(names))


@lru_cache(maxsize=1)
def _images(name: str, data_dir: str | None, download: bool) -> ImageData:
    if name == "made_up_images":
        return _made_up()
    return datasets.load_images(name, data_dir, download=download)


def _made_up() -> ImageData:
    """Return ten kinds of stripes under noise, 8×8 pixels, for tests of the runs themselves."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(60, 196, (10, 3, 8, 8))

    def draw(each: int) -> tuple[Array, Array]:
        y = np.repeat(np.arange(10), each)
        noise = rng.normal(0, 40, (len(y), 3, 8, 8))
        return np.clip(patterns[y] + noise, 0, 255).astype(np.uint8), y

    X, y = draw(100)
    X_test, y_test = draw(50)
    return ImageData(X, y, X_test, y_test, tuple(f"kind {k}" for k in range(10)), "made_up_images")


@lru_cache(maxsize=1)
def _table(
    name: str, own: str, target: str, max_rows: int | None
) -> tuple[Array, Array, tuple[str, ...]]:
    if name in COLLECTIONS:
        X, y, names = COLLECTIONS[name].load(own)
        if max_rows is not None and len(y) > max_rows:
            rows = _thinned(y, max_rows)
            X, y = X[rows], y[rows]
        return X, y, names
    frame, labels = datasets.read_table(own, target)
    if frame.select_dtypes("number").shape[1] < frame.shape[1]:
        from pandas import get_dummies

        frame = get_dummies(frame, dtype=float)
    classes, codes = np.unique(labels.astype(str), return_inverse=True)
    return frame.to_numpy(dtype=float), codes, tuple(classes.tolist())


def _thinned(y: Array, max_rows: int) -> Array:
    """Return about so many rows: the same share of every class, but at least a few of each."""
    counts = np.bincount(y)
    sizes = np.maximum(np.round(counts * max_rows / len(y)), np.minimum(counts, FEWEST)).astype(int)
    rng = np.random.default_rng(0)
    rows = [rng.permutation(np.flatnonzero(y == k))[:size] for k, size in enumerate(sizes)]
    return np.sort(np.concatenate(rows))


def _table_split(data: DataSpec, variant: Variant, data_dir: str | None, run: int) -> Split:
    own = variant.set_name or str(Path(data_dir or ".") / (data.path or ""))
    X, y, names = _table(data.name, own, data.target or "", data.max_rows)
    folds = StratifiedKFold(data.folds, shuffle=True, random_state=1 + run)
    train, test = list(folds.split(X, y))[variant.fold or 0]
    prepare = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    ).fit(X[train])
    held = {"imbalanced": (prepare.transform(X[test]), y[test])}
    return Split(prepare.transform(X[train]), y[train], held, names)
