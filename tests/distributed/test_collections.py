"""Dask collections by partition."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from immax.distributed.collections import (
    align_collections,
    check_collections,
    count_classes,
    encode_labels,
    map_rows,
    partitions_of,
    repeat_rows,
)

pytestmark = pytest.mark.filterwarnings("ignore:Dask currently has limited support")
Y = np.array(["b", "a", "c", "b", "b", "c", "b"])
WEIGHT = np.arange(1.0, 8.0)
FRAME = pd.DataFrame({"x": np.arange(7.0), "z": np.ones(7)}, index=np.arange(10, 17))


def columns(kind):
    """Return labels and weights in partitions that lack classes, one of them empty."""
    if kind == "array":
        return (
            da.from_array(Y, chunks=((3, 0, 4),)),
            da.from_array(WEIGHT, chunks=((3, 0, 4),)),
        )
    frame = pd.DataFrame({"y": Y, "w": WEIGHT}, index=FRAME.index)
    whole = dd.from_pandas(frame, npartitions=3)
    if kind == "unknown":
        return whole["y"].to_dask_array(), whole["w"].to_dask_array()
    return whole["y"], whole["w"]


@pytest.mark.parametrize("kind", ["array", "unknown", "series"])
def test_counts_are_of_all_partitions(kind, client):
    y, weight = columns(kind)
    classes, counts = count_classes(y, None, client)
    assert classes.tolist() == ["a", "b", "c"]
    assert counts.tolist() == [1, 4, 2]
    assert count_classes(y, weight, client)[1].tolist() == [2, 17, 9]
    assert len(partitions_of(y)) == 3
    assert partitions_of(None, 2) == [None, None]


def test_files_are_not_joined(tmp_path):
    for number in range(4):
        frame = pd.DataFrame(np.ones((50, 20))).add_prefix("x").assign(y=number)
        frame.to_parquet(tmp_path / f"{number}.parquet")
    table = dd.read_parquet(tmp_path)
    assert len(table["y"].to_delayed()) < 4  # by Dask's optimisation
    for column in (table["y"], table.drop(columns="y")):
        parts = partitions_of(column)
        assert [len(part.compute(scheduler="sync")) for part in parts] == [50] * 4


def test_labels_must_be_known(client):
    with pytest.raises(ValueError, match="contains NaN"):
        count_classes(da.from_array(np.array([0.0, np.nan]), chunks=1), None, client)
    with pytest.raises(ValueError, match="no samples"):
        count_classes(da.from_array(np.empty(0), chunks=1), None, client)


@pytest.mark.parametrize("kind", ["array", "unknown", "series"])
def test_codes_and_repeated_rows(kind):
    y, _ = columns(kind)
    codes = encode_labels(y, lambda labels: np.searchsorted(["a", "b", "c"], labels))
    found = codes.compute(scheduler="sync")
    assert np.asarray(found).tolist() == [1, 0, 2, 1, 1, 2, 1]
    if kind == "series":
        assert found.index.tolist() == FRAME.index.tolist()
        assert codes.divisions == y.divisions
    one = repeat_rows(np.array([0.5]), codes).compute(scheduler="sync")
    assert one.tolist() == [0.5] * 7
    two = repeat_rows(np.array([0.5, -1.0]), codes).compute(scheduler="sync")
    assert two.tolist() == [[0.5, -1.0]] * 7


def test_results_have_the_kind_of_the_features():
    def double(rows):
        return 2 * np.asarray(rows)[:, 0]

    def both(rows):
        assert len(rows)  # empty partitions are not passed on
        return np.asarray(rows) + 1

    X = da.from_array(FRAME.to_numpy(), chunks=((3, 0, 4), (1, 1)))
    found = map_rows(double, X, np.empty(0))
    assert isinstance(found, da.Array)
    assert found.chunks == ((3, 0, 4),)
    assert found.compute(scheduler="sync").tolist() == (2 * FRAME["x"]).tolist()
    found = map_rows(both, X, np.empty((0, 2)))
    np.testing.assert_array_equal(found.compute(scheduler="sync"), FRAME + 1)
    frame = dd.from_pandas(FRAME, npartitions=2)
    found = map_rows(double, frame, np.empty(0))
    assert isinstance(found, dd.Series)
    assert found.divisions == frame.divisions
    found = map_rows(both, frame, np.empty((0, 2)), ["no", "yes"])
    assert found.divisions == frame.divisions
    expected = (FRAME + 1).set_axis(["no", "yes"], axis=1)
    pd.testing.assert_frame_equal(found.compute(scheduler="sync"), expected)


def test_what_is_refused():
    X = da.from_array(FRAME.to_numpy(), chunks=((3, 4), (1, 1)))
    y = da.from_array(Y, chunks=((3, 4),))
    assert check_collections(X).numblocks == (2, 1)
    with pytest.raises(TypeError, match=r"got DataFrame: for data in memory, .* without Dask"):
        check_collections(FRAME)
    with pytest.raises(ValueError, match="two dimensions; got 1"):
        check_collections(y)
    with pytest.raises(TypeError, match="y must be a Dask array or series; got ndarray"):
        align_collections(X, Y)
    with pytest.raises(ValueError, match="y must have one dimension; got 2"):
        align_collections(X, X)
    with pytest.raises(ValueError, match="X and labels must have as many rows; got 7 and 6"):
        align_collections(X, y[:6], name="labels")
    with pytest.raises(ValueError, match=r"the 2 partitions of X; got 3\. .*compute_chunk_sizes"):
        align_collections(X, columns("unknown")[0])


def test_columns_get_the_partitions_of_the_features():
    X = da.from_array(FRAME.to_numpy(), chunks=((3, 4), (1, 1)))
    rows, y, weight = align_collections(X, da.from_array(Y, chunks=2), da.from_array(WEIGHT))
    assert rows.chunks == ((3, 4), (2,))
    assert y.chunks == weight.chunks == ((3, 4),)
    assert y.compute(scheduler="sync").tolist() == Y.tolist()
    unknown = columns("unknown")[0]
    known = unknown.compute_chunk_sizes()
    assert align_collections(X, known)[1].chunks == ((3, 4),)
    assert align_collections(X, y)[1:] == [y, None]
