"""Metadata of a fit, and who gets them."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GroupKFold, StratifiedKFold

from immax import IMMAXClassifierCV
from immax.routing import SampleMetadata, own_request, route_fit, routing_enabled, split_metadata

GROUPS = np.arange(6)


def test_metadata_of_some_samples():
    part = SampleMetadata(3, {"cost": [1, 2, 5], "unit": "EUR", "pair": (1, 2)}).part(
        np.array([2, 0])
    )
    assert part.n_samples == 2
    assert list(part.values["cost"]) == [5, 1]
    assert part.values["unit"] == "EUR"
    assert part.values["pair"] == (1, 2)  # not one for each sample


def test_whether_routing_is_enabled():
    assert not routing_enabled()
    with config_context(enable_metadata_routing=True):
        assert routing_enabled()


def test_an_estimator_asks_for_groups_if_it_was_told_to():
    with config_context(enable_metadata_routing=True):
        assert "groups" not in own_request(IMMAXClassifierCV()).fit.requests
        for alias in (True, False, "patient"):
            told = IMMAXClassifierCV().set_fit_request(groups=alias)
            assert own_request(told).fit.requests["groups"] == alias
        assert own_request(IMMAXClassifierCV()).fit.requests["sample_weight"] is None
        assert own_request(LogisticRegressionCV()).fit.requests == {"sample_weight": None}


def test_who_gets_the_groups():
    with config_context(enable_metadata_routing=True):
        for cv in (GroupKFold(2), 5, [([0], [1])]):
            model = IMMAXClassifierCV(cv=cv)
            routed = route_fit(model, {"groups": GROUPS, "sample_weight": None})
            assert split_metadata(cv, GROUPS, routed)["groups"] is GROUPS
            assert split_metadata(cv, None, route_fit(model, {})).get("groups") is None
        renamed = GroupKFold(2).set_split_request(groups="patient")
        routed = route_fit(IMMAXClassifierCV(cv=renamed), {"patient": GROUPS})
        assert split_metadata(renamed, None, routed)["groups"] is GROUPS
    assert split_metadata(5, GROUPS, None) == {"groups": GROUPS}


def test_groups_are_not_dropped_in_silence():
    folds = StratifiedKFold(2)
    with config_context(enable_metadata_routing=True):
        model = IMMAXClassifierCV(cv=folds)
        with pytest.raises(TypeError, match="groups"):
            route_fit(model, {"groups": GROUPS})
        routed = route_fit(model.set_fit_request(groups=True), {"groups": GROUPS})
        with pytest.raises(ValueError, match="does not request them"):
            split_metadata(folds, GROUPS, routed)
