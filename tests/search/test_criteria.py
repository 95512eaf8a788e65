"""Which criterion the parameters of a search stand for."""

import numpy as np
import pytest
from sklearn.metrics import fbeta_score, make_scorer

from immax.decisions import MCC, Costs, FBeta
from immax.decisions.scorers import ScorerAim
from immax.search.cell_scores import AimCriterion, ScorerCriterion
from immax.search.criteria import SearchGoal, resolve_aim_of, resolve_purpose

X, Y = np.zeros((8, 2)), np.array([0, 0, 0, 0, 0, 0, 1, 1])


def goal(**given):
    plain = SearchGoal(None, None, "accuracy", True, "auto", None, 0.75)
    return plain._replace(**given)


def purpose(y=Y, has_link=True, **given):
    return resolve_purpose(goal(**given), X[: len(y)], y, None, np.unique(y), has_link)


def test_labels_metrics_mean_their_aim():
    found = purpose(scoring="matthews_corrcoef").criterion
    assert isinstance(found, AimCriterion)
    assert found.aim == MCC()
    own = purpose(scoring=make_scorer(fbeta_score, beta=2)).criterion
    assert isinstance(own.aim, ScorerAim)


def test_the_class_of_f1_is_that_of_the_label_one():
    assert purpose(scoring="f1").criterion.pos_label == 1
    mirrored = purpose(1 - Y, scoring="f1").criterion
    assert mirrored.pos_label == 1  # though it is the frequent one
    assert purpose(aim="f1").criterion.pos_label is None  # the rarer one


@pytest.mark.parametrize("scoring", ["precision", "recall", "recall_macro"])
def test_metrics_that_a_constant_prediction_makes_perfect_have_no_rule(scoring):
    found = purpose(scoring=scoring).criterion
    assert isinstance(found, ScorerCriterion)
    assert list(found.rules) == ["score", "bayes"]


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({}, ["score", "bayes"]),
        ({"has_link": False}, ["score"]),
        ({"rule": "bayes"}, ["bayes"]),
        ({"rule": "score", "scoring": "f1"}, ["score"]),
        ({"scoring": "neg_log_loss"}, ["score"]),
        ({"scoring": None}, ["score", "bayes"]),
    ],
)
def test_rules_of_other_scorers(given, rules):
    found = purpose(**given)
    assert list(found.criterion.rules) == rules
    assert found.uses_labels is (given.get("scoring") != "neg_log_loss")


def test_several_metrics():
    found = purpose(scoring=["f1", "accuracy"], refit="f1")
    assert found.criterion.aim == FBeta()
    assert set(found.others) == {"f1", "accuracy"}
    with_aim = purpose(scoring={"a": "accuracy"}, aim="mcc")
    assert with_aim.criterion.aim == MCC()
    assert set(with_aim.others) == {"a"}
    with pytest.raises(ValueError, match=r"refit must name the one to choose by, of \['f1'\]"):
        purpose(scoring=["f1"])
    with pytest.raises(ValueError, match="different names"):
        purpose(scoring=["f1", "f1"], refit="f1")
    with pytest.raises(ValueError, match="scoring is empty"):
        purpose(scoring={})


def test_costs_are_an_aim():
    assert resolve_aim_of(goal(costs=[1, 10])) == Costs([1, 10])
    assert resolve_aim_of(goal()) is None
    for given, message in [
        ({"costs": [1, 2], "aim": "f1"}, "exclude each other"),
        ({"aim": "f1", "rule": "score"}, "rule must be 'auto'"),
        ({"aim": "f1", "scoring": "f1"}, "give a list of scorers"),
    ]:
        with pytest.raises(ValueError, match=message):
            resolve_aim_of(goal(**given))


def test_metrics_of_labels_cannot_judge_what_is_undecided():
    aim = Costs([1, 5], abstain=0.2)
    with pytest.raises(ValueError, match="scoring: accuracy, f1 cannot score samples that the aim"):
        purpose(aim=aim, scoring=["accuracy", "f1", "neg_log_loss"])
    assert list(purpose(aim=aim, scoring=["neg_log_loss"]).others) == ["neg_log_loss"]
