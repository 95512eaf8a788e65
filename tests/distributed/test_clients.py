"""The client that estimators work with."""

import distributed
import pytest

from immax.distributed.clients import resolve_client


def test_the_client_in_use(client):
    assert resolve_client(None) is client
    assert resolve_client(client) is client
    with pytest.raises(TypeError, match=r"got LocalCluster.*Client\(cluster\)"):
        resolve_client(client.cluster)


def test_no_client(monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr("immax.distributed.clients.get_client", none)
    with pytest.raises(ValueError, match="there is no Dask client: start one"):
        resolve_client(None)
    assert distributed.get_client is not none
