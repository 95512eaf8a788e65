"""What of the metadata of a search goes to its splitter and to its scorers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from immax.routing import SampleMetadata, own_request, route_fit, split_metadata
from immax.search.criteria import ScoreMetadata, SearchGoal, called_scorers

__all__ = ["SearchMetadata", "make_router", "route_metadata"]


class SearchMetadata(NamedTuple):
    """What the parts of a search get."""

    split: Mapping[str, Any]
    scores: ScoreMetadata


def make_router(search: Any, goal: SearchGoal) -> MetadataRouter:
    """Return the requests of a search, of its splitter and of the scorers that it calls.

    Parameters
    ----------
    search : BaseEstimator
        A search with a parameter ``cv``.
    goal : SearchGoal
        Its parameters that say what it is for.

    Returns
    -------
    MetadataRouter
    """
    router = MetadataRouter(owner=search).add_self_request(own_request(search))
    router.add(splitter=search.cv, method_mapping=_calls("fit", "split"))
    called = called_scorers(goal)
    if called.single is not None:
        router.add(scorer=called.single, method_mapping=_calls("fit", "score"))
    if called.many:
        router.add(scorer=_router_of(called.many), method_mapping=_calls("fit", "score"))
    if called.aim is not None:
        router.add(aim=called.aim, method_mapping=_calls("fit", "score"))
    return router


def route_metadata(
    search: Any, goal: SearchGoal, n_samples: int, metadata: Mapping[str, Any]
) -> SearchMetadata:
    """Return what the splitter and the scorers of a search get, by their requests.

    Parameters
    ----------
    search : BaseEstimator
        A search with a parameter ``cv``.
    goal : SearchGoal
        Its parameters that say what it is for.
    n_samples : int
        The number of samples.
    metadata : mapping of str to object
        What was given to ``fit``.

    Returns
    -------
    SearchMetadata
    """
    routed = route_fit(search, metadata)
    called = called_scorers(goal)
    by_scorer: dict[str, Mapping[str, Any]] = {}
    if called.single is not None:
        by_scorer["score"] = routed["scorer"]["score"]
    if called.many:
        each = process_routing(_router_of(called.many), "score", **routed["scorer"]["score"])
        by_scorer = {name: each[name]["score"] for name in called.many}
    aim = None if called.aim is None else SampleMetadata(n_samples, routed["aim"]["score"])
    named = {name: SampleMetadata(n_samples, values) for name, values in by_scorer.items()}
    split = split_metadata(search.cv, metadata.get("groups"), routed)
    return SearchMetadata(split, ScoreMetadata(named, aim))


def _router_of(scorers: Mapping[str, Any]) -> MetadataRouter:
    return MetadataRouter(owner="scoring").add(**scorers, method_mapping=_calls("score", "score"))


def _calls(caller: str, callee: str) -> MethodMapping:
    return MethodMapping().add(caller=caller, callee=callee)
