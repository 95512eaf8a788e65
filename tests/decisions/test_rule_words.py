"""Rules in words."""

import numpy as np

from immax.decisions import Costs
from immax.decisions.rules import Rule, threshold_gains


def two(threshold, positive=1, prior=(0.99, 0.01), **options):
    return Rule(np.array(["ok", "fraud"]), threshold_gains(threshold, positive), prior, **options)


def test_words():
    text = str(two(0.083))
    assert text == (
        "predict fraud when its probability is at least 0.083, that is 8.3 times its share of 1 %"
    )
    assert str(two(0.083).for_prior([0.9, 0.1])).endswith("times its share of 10 %")
    assert str(two(0.0102)).endswith("at least 0.0102, that is about its share of 1 %")
    assert str(two(0.25, positive=0, prior=(0.01, 0.99))).startswith(
        "predict ok when its probability is more than 0.25"
    )
    assert str(two(1.1)) == "predict ok always"
    assert str(two(-0.1, positive=0, prior=(0.01, 0.99))) == "predict ok always"
    assert str(two(1.1, positive=0, prior=(0.01, 0.99))) == "predict fraud always"
    costly = Rule(
        np.array(["a", "b", "c"]), Costs([1, 2, 4]).gains(np.arange(3), np.ones(3)), [1, 1, 1]
    )
    assert "(a: 1, b: 2, c: 4)" in str(costly)
    many = Rule(np.array(["a", "b", "c"]), np.diag([1.0, 2.0, 4.0]), [0.5, 0.3, 0.2])
    assert "a: 1, b: 2, c: 4" in str(many)
    assert str(Rule(np.arange(3), np.eye(3), [1, 1, 1])) == "predict the most probable class"
    assert "30 rows" in str(two(0.5, count=30))
    abstaining = Rule(np.arange(2), -np.array([[0, 1, 0.2], [1, 0, 0.2]]), [0.5, 0.5])
    assert "none" in str(abstaining)
