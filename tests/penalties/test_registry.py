"""Penalties by name, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.penalties import PENALTIES, ElasticNet, GroupNorm, L1Norm, SquaredL2, make_penalty
from immax.penalties.registry import group_numbers, order_groups


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


def test_labels_by_name_go_by_the_names_of_features():
    names = ["x", "y", "z"]
    by_name = {"z": "b", "x": "a", "y": "b", "unused": "c"}
    for groups in (by_name, pd.Series(by_name)):
        assert list(order_groups(groups, 3, names)) == ["a", "b", "b"]
    for groups in (["b", "a", "b"], pd.Series(["b", "a", "b"]), {2: "b", 1: "a", 0: "b"}):
        assert list(order_groups(groups, 3, names)) == ["b", "a", "b"]
        assert list(order_groups(groups, 3)) == ["b", "a", "b"]


@pytest.mark.parametrize(
    ("groups", "names", "message"),
    [
        ({"x": 0, "y": 1}, ["x", "z"], "no label for the feature 'z'; there are x, y"),
        (pd.Series({"x": 0, "y": 1}), None, "such as 'x', but the features have none: pass X as"),
        (pd.Series([0, 1], index=[4, 7]), None, "such as 4, but the features have none"),
        (pd.Series([0, 1], index=["x", "x"]), ["x", "z"], "more than one label .* 'x'"),
        (pd.Series([0, 1, 1]), ["x", "z"], r"each of the 2 features; got an array of shape \(3,"),
    ],
)
def test_labels_that_fit_no_feature_are_refused(groups, names, message):
    with pytest.raises(ValueError, match=message):
        make_penalty("group", groups=groups, n_features=2, names=names)


def test_estimators_read_groups_by_name():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    y = (X["a"] + 0.3 * X["c"] + rng.normal(size=120) > 0.8).to_numpy()
    groups = pd.Series({"d": 1, "c": 0, "b": 1, "a": 0})
    model = IMMAXClassifier(penalty="group", groups=groups, lam=0.05).fit(X, y)
    expected = IMMAXClassifier(penalty="group", groups=[0, 1, 0, 1], lam=0.05).fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    with pytest.raises(ValueError, match="groups have names, such as 'd'"):
        model.fit(X.to_numpy(), y)
    search = IMMAXClassifierCV(penalty="group", groups=dict(groups), n_margins=1, cv=3).fit(X, y)
    expected = IMMAXClassifierCV(penalty="group", groups=[0, 1, 0, 1], n_margins=1, cv=3).fit(X, y)
    np.testing.assert_array_equal(search.coef_, expected.coef_)
