"""Conditional risks, the H-consistency theorems point by point, and the counter-example."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from immax.links import immax_proba
from immax.theory import (
    best_conditional_risk,
    calibration,
    conditional_risk,
    counter_example,
    implied_threshold,
)


def draw(seed, c):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(c, 0.5))
    scores = rng.normal(size=c) * rng.choice([0.1, 1, 10])
    if rng.random() < 0.2:
        scores = scores.round()  # ties
    return p / p.sum(), scores, rng.uniform(0.1, 3, c)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_theorem_h_consistency_binary(seed):
    p, scores, rho = draw(seed, 2)
    excess = calibration(p, scores[0], rho)
    assert -1e-12 <= excess.zero_one <= excess.margin + 1e-12


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 8))
def test_theorem_h_consistency_multi(seed, c):
    p, scores, rho = draw(seed, c)
    excess = calibration(p, scores, rho)
    assert -1e-12 <= excess.zero_one <= excess.margin + 1e-12


def test_the_best_margin_risk_is_reached():
    p, _, rho = draw(3, 4)
    far = np.where(np.arange(4) == p.argmax(), 100.0, 0.0)
    assert conditional_risk("margin", p, far, rho) == pytest.approx(1 - p.max())
    assert best_conditional_risk("margin", p, rho) == pytest.approx(1 - p.max())


@pytest.mark.parametrize("costs", [(3.0, 1.0), (1.0, 3.0), (1.01, 1.0)])
def test_theorem_negative(costs):
    positive, negative = costs
    found = counter_example(positive, negative)
    assert found.zero_one_choice != found.cost_sensitive_choice
    assert found.zero_one_choice == found.p.argmax()
    assert found.zero_one_excess > 0
    # The cost-sensitive choice is the best for its own loss, and stays so however far it is learnt.
    sign = 2 * found.cost_sensitive_choice - 1
    weights = [negative, positive]
    reached = conditional_risk("cost-sensitive", found.p, float(sign), weights)
    assert reached == pytest.approx(best_conditional_risk("cost-sensitive", found.p, weights))
    with pytest.raises(ValueError, match="equal costs"):
        counter_example(2.0, 2.0)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "exponential"])
@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.7])
def test_implied_threshold_is_where_the_best_score_changes_sign(loss, alpha):
    rho = [1 - alpha, alpha]
    threshold = implied_threshold(loss, rho)
    assert threshold == pytest.approx(alpha)
    grid = np.linspace(-3, 3, 1201)
    for p in (threshold - 0.02, threshold + 0.02):
        risks = [conditional_risk(loss, [1 - p, p], h, rho) for h in grid]
        assert (grid[np.argmin(risks)] > 0) == (p > threshold)
        best = best_conditional_risk(loss, [1 - p, p], rho, one_score=True)
        assert best <= min(risks) + 1e-9
        assert best == pytest.approx(min(risks), abs=1e-3)


def test_implied_threshold_of_the_others():
    assert implied_threshold("cross-entropy") == 0.5
    assert implied_threshold("zero-one") == 0.5
    assert implied_threshold("cost-sensitive", [1.0, 3.0]) == 0.25
    p = 0.25
    both = [conditional_risk("cost-sensitive", [1 - p, p], h, [1.0, 3.0]) for h in (-1.0, 1.0)]
    assert both[0] == pytest.approx(both[1])


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("c", [2, 3, 5])
def test_the_best_risk_is_that_of_the_links_scores(loss, c):
    """The minimiser's probabilities are p: no other scores do better."""
    from scipy.optimize import minimize

    p, _, rho = draw(11, c)
    p = 0.9 * p + 0.1 / c
    found = minimize(lambda h: conditional_risk(loss, p, h, rho), np.zeros(c), method="BFGS")
    np.testing.assert_allclose(immax_proba(found.x[None], rho, loss)[0], p, atol=1e-4)
    assert best_conditional_risk(loss, p, rho) <= found.fun + 1e-9


def test_conditional_risks_by_plain_loops():
    p, h, rho = draw(5, 4)
    loops = {
        "logistic": lambda k: np.log(sum(np.exp((hj - h[k]) / rho[k]) for hj in h)),
        "exponential": lambda k: sum(
            np.exp((hj - h[k]) / rho[k]) for j, hj in enumerate(h) if j != k
        ),
        "hinge": lambda k: max(
            max(0, 1 - (h[k] - hj) / rho[k]) for j, hj in enumerate(h) if j != k
        ),
        "zero-one": lambda k: float(k != h.argmax()),
        "cost-sensitive": lambda k: rho[k] * float(k != h.argmax()),
    }
    for loss, value in loops.items():
        expected = sum(p[k] * value(k) for k in range(4))
        assert conditional_risk(loss, p, h, rho) == pytest.approx(expected), loss


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conditional_risk("l2", [0.5, 0.5], 0.0), "loss must be"),
        (lambda: conditional_risk("margin", [0.5, 0.5], 0.0), "needs its rho"),
        (lambda: conditional_risk("margin", [0.7, 0.7], 0.0, [1, 1]), "p must be"),
        (lambda: conditional_risk("margin", [0.5, 0.5], [1, 2, 3.0], [1, 1]), "scores must be"),
        (lambda: best_conditional_risk("hinge", [0.5, 0.5]), "needs its parameters"),
        (lambda: best_conditional_risk("hinge", [0.2, 0.3, 0.5], [1, 1, 1], True), "two classes"),
        (lambda: implied_threshold("hinge"), "needs its parameters"),
        (lambda: counter_example(-1.0, 1.0), "costs"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
