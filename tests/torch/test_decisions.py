"""Decisions on the device against those of NumPy."""

import numpy as np
import pytest
import torch

from immax import plain_rules
from immax.decisions import Budget, Costs, fit_rule
from immax.torch.decisions import decide, decide_by_rule, highest_argmax, rule_of

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(4), 50)
P[0] = 0.25


def test_decisions_equal_the_numpy_ones():
    for costs in (None, RNG.uniform(1, 5, 4), RNG.uniform(0, 5, (4, 4))):
        found = decide(torch.tensor(P), costs)
        np.testing.assert_array_equal(found.numpy(), plain_rules.decide(P, costs))
    for wrong in ([1, 2, np.nan, 3], torch.tensor([1.0, 2.0, -1.0, 3.0])):
        with pytest.raises(ValueError, match="costs must be finite and not negative"):
            decide(torch.tensor(P), wrong)
    with pytest.raises(ValueError, match="costs must have shape"):
        decide(torch.tensor(P), [1.0, 2.0])
    assert highest_argmax(torch.zeros(2, 3)).tolist() == [2, 2]


def test_fitted_rules():
    y = np.array([RNG.choice(4, p=p) for p in P])
    for aim in ("balanced_accuracy", "f1_macro", Costs([1, 2, 3, 4.0], abstain=0.3)):
        rule = fit_rule(P, y, aim)
        found = decide_by_rule(torch.tensor(P), rule)
        np.testing.assert_array_equal(found.numpy(), rule.decide(P))
    pixels = decide_by_rule(torch.tensor(P).T.unsqueeze(0), rule)  # (1, 4, 50)
    np.testing.assert_array_equal(pixels[0].numpy(), rule.decide(P))
    with pytest.raises(ValueError, match="the rule is for 4 classes, the logits have 2"):
        decide_by_rule(torch.tensor(P[:, :2]), rule)


def test_a_rule_with_a_count():
    two = np.c_[P[:, 0] + P[:, 1], P[:, 2] + P[:, 3]]
    rule = fit_rule(two, (two[:, 1] > 0.6).astype(int), Budget(count=7))
    found = decide_by_rule(torch.tensor(two), rule)
    np.testing.assert_array_equal(found.numpy(), rule.decide(two))
    with pytest.raises(ValueError, match="a rule with a count needs"):
        decide_by_rule(torch.zeros(2, 2, 3), rule)


def test_rules_of_aims():
    assert rule_of("accuracy", 3, None).weights.tolist() == [1, 1, 1]
    balanced = rule_of("balanced_accuracy", 2, [75, 25])
    assert balanced.threshold == pytest.approx(0.25)
    assert rule_of(balanced, 2, None) is balanced
    assert rule_of(Costs([1.0, 9.0]), 2, None).threshold == pytest.approx(0.1)
    with pytest.raises(ValueError, match="needs the class shares"):
        rule_of("balanced_accuracy", 2, None)
    with pytest.raises(ValueError, match=r"no closed form: fit a rule .* y, 'f1'\)"):
        rule_of("f1", 2, [75, 25])
    with pytest.raises(ValueError, match=r"y, Budget\(share=0.1, count=None\)\)"):
        rule_of(Budget(0.1), 2, [75, 25])
    counted = rule_of(Budget(count=3), 2, [25, 75])
    assert (counted.count, counted.positive) == (3, 0)
    with pytest.raises(ValueError, match="needs the class shares"):
        rule_of(Budget(count=3), 2, None)
    with pytest.raises(ValueError, match="budget of 3 is for two classes; there are 4"):
        rule_of(Budget(count=3), 4, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="rule must be"):
        rule_of("best", 2, [75, 25])
    with pytest.raises(TypeError, match="rule must be"):
        rule_of(3, 2, [75, 25])
