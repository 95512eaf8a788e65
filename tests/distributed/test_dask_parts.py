"""Parts on a cluster: sums in a tree, files that cannot be read, workers that are killed."""

import os
import signal
import threading
import time

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from parted_cases import rows

from immax import IMMAXClassifier
from immax.distributed import DaskIMMAXClassifier, clusters, dask_parts
from immax.distributed.clusters import ClusterError
from immax.distributed.dask_parts import DaskParts, place_parts
from immax.distributed.raw_parts import Encoding


def number_of_rows(part, factor):
    return factor * len(part.y), [part.number]


def test_sums_in_a_tree(client):
    X, y = rows(2, 100)
    parts = place_parts(client, da.from_array(X, chunks=(5, -1)), da.from_array(y, chunks=5), None)
    total, numbers = parts.reduce(number_of_rows, 3)
    assert total == 300
    assert sorted(numbers) == list(range(20))
    assert parts.n_rounds == 1
    firsts = {number: (5 * number, 5 * number) for number in range(20)}
    encoded = parts.encoded(Encoding(np.array([0, 1]), firsts, np.dtype(np.float32)))
    assert isinstance(encoded, DaskParts)
    assert encoded.reduce(len_of) == 100


def len_of(part):
    return len(part)


def test_parts_of_a_worker_are_asked_together(client, monkeypatch):
    X, y = rows(2, 100)
    data = da.from_array(X, chunks=(5, -1)), da.from_array(y, chunks=5)
    groups = place_parts(client, *data, None)._groups
    assert len(groups) <= len(client.nthreads())
    numbers = [part.number for group in client.gather(groups) for part in group.parts]
    assert sorted(numbers) == list(range(20))
    monkeypatch.setattr(dask_parts, "GROUP_BYTES", 2 * X[:5].nbytes)
    parts = place_parts(client, *data, None)
    assert len(parts._groups) >= 10
    assert parts.reduce(number_of_rows, 1)[0] == 100


def test_a_file_that_cannot_be_read_is_named(client, tmp_path):
    for number in range(3):
        frame = pd.DataFrame({"x": np.arange(10.0), "y": np.arange(10) % 2})
        frame.to_parquet(tmp_path / f"part{number}.parquet")
    table = dd.read_parquet(tmp_path)
    damaged = tmp_path / "part1.parquet"
    content = bytearray(damaged.read_bytes())
    content[4:40] = bytes(36)
    damaged.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"partition 1 \(.*part1\.parquet\) cannot be read"):
        DaskIMMAXClassifier().fit(table[["x"]], table["y"])


def wait_for_the_last(client, futures):
    """Raise the error of the last part, after all of them have failed."""
    distributed.wait(futures)
    raise futures[-1].exception()


def test_the_error_is_that_of_the_partition(client, monkeypatch):
    X, y = rows(2, 300)
    X[::150, 0] = np.nan  # in the first partition and in the second
    X[299, 1] = np.inf
    monkeypatch.setattr(dask_parts, "wait_for", wait_for_the_last)
    with pytest.raises(ValueError, match=r"^partition 0: Input X contains NaN"):
        place_parts(client, da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100), None)


def slow_rows(block):
    time.sleep(0.3)
    return block


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


def test_a_worker_that_is_killed_costs_a_retry(cluster, monkeypatch):
    X, y = rows(2)
    local = IMMAXClassifier(tol=1e-12).fit(X, y)
    killed = []
    with distributed.Client(cluster) as client:
        first = DaskParts.reduce

        def reduce(self, function, *args):
            if self.n_rounds == 3:  # in the middle of the iterations
                pid = client.run(os.getpid)
                killed.append(next(iter(pid.values())))
                os.kill(killed[0], signal.SIGKILL)
            return first(self, function, *args)

        monkeypatch.setattr(DaskParts, "reduce", reduce)
        data = da.from_array(X, chunks=(500, -1))
        model = DaskIMMAXClassifier(tol=1e-12).fit(data, da.from_array(y, chunks=500))
    assert killed
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-6)


def test_a_cluster_that_goes_away_gives_one_error(cluster, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 2.0)
    X, y = rows(2, 1000)
    data = da.from_array(X, chunks=(50, -1)).map_blocks(slow_rows)
    with distributed.Client(cluster) as client:
        threading.Timer(1.0, lambda: cluster.scale(0)).start()
        begin = time.monotonic()
        with pytest.raises(ClusterError, match="no worker for 2 seconds: the fit is abandoned"):
            DaskIMMAXClassifier(client=client).fit(data, da.from_array(y, chunks=50))
        assert time.monotonic() - begin < 30
        client.close()
        with pytest.raises(ClusterError, match="is gone, or its client was closed"):
            clusters.wait_for(client, [])
