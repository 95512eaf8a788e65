"""Penalties by name, and what is refused."""

import numpy as np
import pytest

from immax.penalties import PENALTIES, ElasticNet, GroupNorm, L1Norm, SquaredL2, make_penalty
from immax.penalties.registry import group_numbers


def test_every_row_makes_the_penalty_of_its_name():
    for name in PENALTIES:
        assert make_penalty(name).name == name


def test_an_elastic_net_without_kinks_is_l2():
    assert make_penalty("elasticnet", l1_ratio=0) == SquaredL2()
    assert make_penalty("elasticnet", l1_ratio=1) == ElasticNet(1.0)
    assert make_penalty("l1") == L1Norm()


def test_groups_are_labels_of_any_kind():
    for labels in (["b", "a", "b"], np.array([7, 3, 7]), (1.5, 0.5, 1.5)):
        penalty = make_penalty("group", groups=labels, n_features=3)
        assert isinstance(penalty, GroupNorm)
        np.testing.assert_array_equal(penalty.groups, [1, 0, 1])
    assert group_numbers(None, 3) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "l3"}, "penalty must be"),
        ({"name": "elasticnet", "l1_ratio": 1.5}, "l1_ratio must be a number from 0 to 1; got 1.5"),
        ({"name": "elasticnet", "l1_ratio": "half"}, "l1_ratio"),
        ({"name": "elasticnet", "l1_ratio": True}, "l1_ratio"),
        ({"name": "l1", "groups": [0, 1]}, "groups are for penalty='group'; got penalty='l1'"),
        ({"name": "group", "groups": [0, 1], "n_features": 3}, "each of the 3 features"),
        ({"name": "group", "groups": [[0, 1]]}, "one label for each"),
        ({"name": "group", "groups": [0, np.nan]}, "NaN"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_penalty(**arguments)
