"""The data of a cell: a training set and one test set or more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax import datasets
from immax.arrays import Array
from immax.bench.features import patch_features, pixel_features
from immax.datasets import ImageData, class_shares, keep_shares
from immax.validation import nearest

__all__ = ["Split", "load_split"]


@dataclass(frozen=True)
class Split:
    """Labels are codes of classes."""

    X: Array
    y: Array
    tests: Mapping[str, tuple[Array, Array]]
    class_names: tuple[str, ...]

    @property
    def counts(self) -> Array:
        return np.bincount(self.y, minlength=len(self.class_names))


READERS = {
    "cifar10": datasets.load_cifar10,
    "cifar100": datasets.load_cifar100,
    "tiny_imagenet": datasets.load_tiny_imagenet,
}
WITHOUT_SOURCE = {
    "fashion_mnist": datasets.load_fashion_mnist,
    "mnist": datasets.load_mnist,
}


def load_split(
    spec: Mapping[str, Any],
    data_dir: str | None,
    run: int,
    *,
    flat: bool,
    download: bool = False,
) -> Split:
    """What a cell is trained and tested on.

    Parameters
    ----------
    spec : mapping
        Of a cell.
    data_dir : str or None
        Where the files are.
    run : int
        Seeds which samples are kept.
    flat : bool
        Features for estimators, or images for networks.
    download : bool
        Whether to fetch what is not there.
    """
    data, variant = spec["data"], spec["variant"]
    if data["name"] in ("keel", "table"):
        return _table_split(data, variant, data_dir, run)
    key = (data["name"], data_dir, tuple(sorted(variant.items())), tuple(spec["tests"]))
    options = (data["share"], data["features"], data.get("patches", 0), run, flat, download)
    return _image_split(*key, *options)


@lru_cache(maxsize=2)
def _image_split(
    name: str,
    data_dir: str | None,
    variant: tuple[tuple[str, Any], ...],
    tests: tuple[str, ...],
    share: float,
    features: str,
    patches: int,
    run: int,
    flat: bool,
    download: bool,
) -> Split:
    images = _images(name, data_dir, download)
    shape = dict(variant)
    y_train, y_test, names = images.y_train, images.y_test, images.class_names
    train, test = np.arange(len(y_train)), np.arange(len(y_test))
    if share < 1:
        equal = np.full(len(names), share)
        train = keep_shares(y_train, equal, random_state=run)
        test = keep_shares(y_test, equal, random_state=run)
    kept = {"balanced": test, "imbalanced": test}
    if shape["kind"] == "one_vs_rest":
        if shape["class"] not in names:
            raise ValueError(
                f"{name} has no class {shape['class']!r}{nearest(shape['class'], names)}"
            )
        positive = names.index(shape["class"])
        y_train, y_test = (y_train == positive).astype(int), (y_test == positive).astype(int)
        names = (f"not {shape['class']}", shape["class"])
    elif shape["kind"] != "none":
        shares = class_shares(len(names), shape["kind"], shape["ratio"], shape.get("minority", 0.5))
        train = train[keep_shares(y_train[train], shares, random_state=run)]
        kept["imbalanced"] = test[keep_shares(y_test[test], shares, random_state=run)]
    X = images.X_train[train]
    held = {protocol: images.X_test[kept[protocol]] for protocol in tests}
    if flat:
        parts = [X, *held.values()]
        if features == "patches":
            parts = patch_features(*parts, patches=patches, seed=run)
        else:
            parts = pixel_features(*parts)
        X, held = parts[0], dict(zip(held, parts[1:], strict=True))
    labelled = {protocol: (held[protocol], y_test[kept[protocol]]) for protocol in tests}
    return Split(X, y_train[train], labelled, tuple(names))


@lru_cache(maxsize=1)
def _images(name: str, data_dir: str | None, download: bool) -> ImageData:
    if name == "made_up_images":
        return _made_up()
    if name in WITHOUT_SOURCE:
        return WITHOUT_SOURCE[name](data_dir)
    return READERS[name](data_dir, download=download)


def _made_up() -> ImageData:
    """Ten kinds of stripes under noise, 8×8 pixels: for trials of the machinery."""
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
def _table(name: str, own: str, target: str) -> tuple[Array, Array, tuple[str, ...]]:
    if name == "keel":
        X, y = datasets.load_keel(own)
        return X, y, ("negative", "positive")
    frame, labels = datasets.read_table(own, target)
    if frame.select_dtypes("number").shape[1] < frame.shape[1]:
        from pandas import get_dummies

        frame = get_dummies(frame, dtype=float)
    classes, codes = np.unique(labels.astype(str), return_inverse=True)
    return frame.to_numpy(dtype=float), codes, tuple(classes.tolist())


def _table_split(
    data: Mapping[str, Any], variant: Mapping[str, Any], data_dir: str | None, run: int
) -> Split:
    own = variant.get("set") or str(Path(data_dir or ".") / data["path"])
    X, y, names = _table(data["name"], own, data.get("target", ""))
    folds = StratifiedKFold(data["folds"], shuffle=True, random_state=1 + run)
    train, test = list(folds.split(X, y))[variant["fold"]]
    prepare = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    ).fit(X[train])
    held = {"imbalanced": (prepare.transform(X[test]), y[test])}
    return Split(prepare.transform(X[train]), y[train], held, names)
