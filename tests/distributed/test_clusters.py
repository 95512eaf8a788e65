"""Waiting for results."""

import pytest

from immax.distributed.clusters import ClusterError, wait_for


def divide(a, b):
    return a / b


def test_results_and_errors(client):
    assert wait_for(client, client.map(divide, [1, 2], [2, 2])) == [0.5, 1.0]
    with pytest.raises(ZeroDivisionError):
        wait_for(client, [client.submit(divide, 1, 0)])


def test_what_was_cancelled(client):
    future = client.submit(divide, 3, 7, pure=False)
    future.cancel()
    with pytest.raises(ClusterError, match="the fit is abandoned"):
        wait_for(client, [future])
