"""The Dask client that an estimator works with."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

try:
    from distributed import Client, get_client
except ModuleNotFoundError as error:
    raise ImportError('immax.distributed needs Dask: pip install "immax[distributed]"') from error

__all__ = ["ClientParameter", "resolve_client"]


def resolve_client(client: Any) -> Client:
    """Return a client, or by default the one that is in use.

    Parameters
    ----------
    client : distributed.Client or None
        None is the default client, or inside a task the client of its worker.

    Returns
    -------
    distributed.Client

    Raises
    ------
    ValueError
        If there is no client in use.
    TypeError
        If something else was passed, such as a cluster.
    """
    if client is None:
        try:
            return get_client()
        except ValueError:
            raise ValueError(
                "there is no Dask client: start one with distributed.Client(), or pass client="
            ) from None
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client; got {type(client).__name__} (a client of a "
            "cluster is Client(cluster))"
        )
    return client


class ClientParameter:
    """An estimator's parameter ``client``, which copies share and files do not hold."""

    client: Any

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client: a connection is of this process alone."""
        return {**super().__getstate__(), "client": None}  # type: ignore[dict-item]

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted estimator of the same parameters, which shares the client."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        copied = {name: clone(params[name], safe=False) for name in params if name != "client"}
        return type(self)(client=self.client, **copied)  # type: ignore[call-arg]
