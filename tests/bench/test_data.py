"""The data of cells."""

from types import SimpleNamespace

import numpy as np
import pytest

from immax.bench.cells import DataSpec, EstimatorCell, Variant
from immax.bench.data import load_split
from immax.datasets.registry import COLLECTIONS
from immax.evaluation.selection import Selection


def split(variant, tests=("imbalanced", "balanced"), run=0, flat=True, **data):
    spec = DataSpec("made_up_images", **{"features": "pixels"} | data)
    own = EstimatorCell(spec, variant, tests, "linear", "ce", Selection(), {}, run)
    return load_split(own, None, run, flat=flat)


def test_long_tails_and_steps():
    found = split(Variant(kind="long_tailed", ratio=10.0))
    assert (found.counts[0], found.counts[-1]) == (100, 10)
    assert (np.diff(found.counts) < 0).all()
    assert (np.bincount(found.tests["balanced"][1]) == 50).all()
    assert np.bincount(found.tests["imbalanced"][1])[-1] == 5
    step = split(Variant(kind="step", ratio=10.0, minority=0.3)).counts
    assert sorted(step.tolist()) == [10] * 3 + [100] * 7


def test_one_class_against_the_rest():
    found = split(Variant(kind="one_vs_rest", class_name="kind 3"))
    assert found.counts.tolist() == [900, 100]
    assert found.class_names == ("not kind 3", "kind 3")
    with pytest.raises(ValueError, match="has no class 'kind 33'; did you mean 'kind 3'"):
        split(Variant(kind="one_vs_rest", class_name="kind 33"))


def test_runs_keep_other_samples():
    one, two, again = (split(Variant(kind="none"), run=run, share=0.5) for run in (0, 1, 0))
    assert len(one.y) == 500
    assert not np.array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.X, again.X)


def test_images_for_networks_and_standardised_pixels_for_estimators():
    images = split(Variant(kind="none"), flat=False).X
    assert (images.shape, images.dtype) == ((1000, 3, 8, 8), np.uint8)
    pixels = split(Variant(kind="none")).X
    assert pixels.shape == (1000, 192)
    np.testing.assert_allclose(pixels.mean(axis=0), 0, atol=1e-5)


def test_tables_are_split_into_outer_folds(tmp_path):
    rows = [f"{i},{'ab'[i % 2]},{'no' if i % 3 else 'yes'}" for i in range(60)]
    (tmp_path / "table.csv").write_text("\n".join(["x,kind,label", *rows]) + "\n")
    data = DataSpec("table", 1.0, "table.csv", "label", 3)
    sizes = 0
    for fold in range(3):
        own = EstimatorCell(
            data, Variant(fold=fold), ("imbalanced",), "linear", "ce", Selection(), {}, 0
        )
        found = load_split(own, str(tmp_path), 0, flat=True)
        assert found.class_names == ("no", "yes")
        assert found.X.shape == (40, 3)  # a number, and a column for each kind
        sizes += len(found.tests["imbalanced"][1])
    assert sizes == 60


def test_large_tables_are_thinned_to_the_same_shares(monkeypatch):
    y = np.repeat([0, 1, 2, 3], [6000, 2955, 30, 15])
    X = np.arange(len(y), dtype=float)[:, None]
    collection = SimpleNamespace(load=lambda _: (X, y, ("a", "b", "c", "d")))
    monkeypatch.setitem(COLLECTIONS, "keel", collection)
    cell = EstimatorCell(
        DataSpec("keel", folds=5, max_rows=3000),
        Variant(set_name="large, made up", fold=0),
        ("imbalanced",),
        "linear",
        "ce",
        Selection(),
        {},
        0,
    )
    found = load_split(cell, None, 0, flat=True)
    counts = found.counts + np.bincount(found.tests["imbalanced"][1])
    assert counts.tolist() == [2000, 985, 10, 10]  # a third of each class, and at least ten
