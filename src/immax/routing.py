"""scikit-learn's metadata routing: which metadata of a fit go to which of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRequest,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

from immax.arrays import Array

__all__ = ["SampleMetadata", "own_request", "route_fit", "routing_enabled", "split_metadata"]


@dataclass(frozen=True)
class SampleMetadata:
    """What routing gives a scorer.

    Attributes
    ----------
    n_samples : int
        The number of samples; values of this length have one entry for each of them.
    values : mapping of str to object
        Metadata by the names under which the scorer takes them.
    """

    n_samples: int
    values: Mapping[str, Any] = field(default_factory=dict)

    def part(self, rows: Array) -> SampleMetadata:
        """Return the metadata of some samples.

        Parameters
        ----------
        rows : ndarray of int, shape (n,)
            Indices of the samples.

        Returns
        -------
        SampleMetadata

        Examples
        --------
        >>> SampleMetadata(3, {"cost": np.array([1, 2, 5]), "unit": "EUR"}).part([0, 2]).values
        {'cost': array([1, 5]), 'unit': 'EUR'}
        """
        all_samples = np.empty((self.n_samples, 0))
        texts = {name: value for name, value in self.values.items() if isinstance(value, str)}
        selected = _check_method_params(all_samples, self.values, rows)
        return SampleMetadata(len(rows), {**selected, **texts})  # letters are not samples


def routing_enabled() -> bool:
    """Return whether scikit-learn routes metadata by requests.

    Returns
    -------
    bool
    """
    return bool(get_config()["enable_metadata_routing"])


def own_request(estimator: Any) -> MetadataRequest:
    """Return what an estimator itself requests; ``groups`` only if it was told to.

    Groups are for the splitter, whose request is enough to get them from a cross-validation around
    the estimator. ``set_fit_request(groups=True)`` asks for them in any case.

    Parameters
    ----------
    estimator : BaseEstimator
        An estimator whose ``fit`` takes ``groups``.

    Returns
    -------
    MetadataRequest
    """
    request = estimator._get_metadata_request()
    if request.fit.requests.get("groups", UNUSED) is None:
        request.fit.add_request(param="groups", alias=UNUSED)
    return request


def route_fit(estimator: Any, metadata: Mapping[str, Any]) -> Any:
    """Return what the parts of an estimator get, by their requests.

    Parameters
    ----------
    estimator : estimator
        A router with a parameter ``cv``.
    metadata : mapping of str to object
        What was given to ``fit``; values of None were not given.

    Returns
    -------
    Bunch
        For each part and each of its methods, a dict of metadata.
    """
    given = {name: value for name, value in metadata.items() if value is not None}
    router = get_routing_for_object(estimator)
    if not _has_requests(estimator.cv) and not router.consumes("fit", ["groups"]):
        given.pop("groups", None)  # split_metadata passes them to a splitter without requests
    return process_routing(estimator, "fit", **given)


def split_metadata(cv: Any, groups: Any, routed: Any) -> dict[str, Any]:
    """Return what the splitter gets.

    One without requests (a number, a list of folds, an object of another library) gets the groups,
    as without routing, unless another part has asked for them.

    Parameters
    ----------
    cv : int, str, splitter or iterable
        How samples are split.
    groups : array-like of shape (n,), optional
        Groups that were given to ``fit``.
    routed : Bunch or None
        As ``route_fit`` returns it; None if routing is not enabled.

    Returns
    -------
    dict of str to object

    Raises
    ------
    ValueError
        If groups were given and the splitter does not ask for them.
    """
    if routed is None:
        return {"groups": groups}
    metadata = dict(routed["splitter"]["split"])
    if groups is None or _is_taken("groups", routed):
        return metadata
    if not _has_requests(cv):
        return {**metadata, "groups": groups}
    raise ValueError(
        f"groups were given, and cv={cv!r} does not request them; use a splitter that keeps "
        "them together, such as StratifiedGroupKFold"
    )


def _is_taken(name: str, routed: Any) -> bool:
    parts = routed.values() if isinstance(routed, Mapping) else ()
    return any(name in values for part in parts for values in part.values())


def _has_requests(cv: Any) -> bool:
    return hasattr(cv, "get_metadata_routing")
