"""Minimizability gaps and H-consistency of finite distributions."""

import numpy as np
import pytest

from immax.theory import conditional_risks, excess_risks, minimizability_gap, phi

RNG = np.random.default_rng(0)


def distribution(c, n=6):
    return RNG.dirichlet(np.ones(c), n), RNG.dirichlet(np.ones(n))


def test_gaps_in_plain_loops():
    p, q = distribution(2)
    h = RNG.normal(size=(5, 6))
    rho = [0.5, 1.2]

    def risk(own, x):
        return p[x, 1] * phi(own[x], rho[1]) + p[x, 0] * phi(-own[x], rho[0])

    totals = [sum(q[x] * risk(own, x) for x in range(6)) for own in h]
    pointwise = sum(q[x] * min(risk(own, x) for own in h) for x in range(6))
    gap = minimizability_gap("margin", p, h, rho, q)
    assert gap == pytest.approx(min(totals) - pointwise)
    assert gap >= 0
    assert conditional_risks("margin", p, h, rho).shape == (5, 6)


@pytest.mark.parametrize("c", [1, 3])
def test_theorems_h_consistency_over_the_risks_of_a_distribution(c):
    for _ in range(10):
        p, q = distribution(max(c, 2))
        scores = RNG.normal(size=(8, 6) if c == 1 else (8, 6, c))
        found = excess_risks(p, scores, RNG.uniform(0.1, 2, max(c, 2)), q)
        assert found.holds
        assert (found.zero_one >= -1e-12).all()
        assert found.zero_one.shape == (8,)


def test_a_family_that_is_not_complete_may_break_them():
    """The paper extends the binary theorem "directly" to bounded hypotheses: not so."""
    h = np.linspace(-0.3, 0.3, 601)[:, None]
    found = excess_risks([[0.4, 0.6]], h, [0.2, 0.8], complete=False)
    assert not found.holds
    assert excess_risks([[0.4, 0.6]], h, [0.2, 0.8]).holds


def test_bad_input():
    p, _ = distribution(2)
    for arguments, message in [
        (("margin", p[0], np.zeros((2, 6)), [1, 1]), r"p must have shape \(n, c\)"),
        (("margin", p, np.zeros((2, 5)), [1, 1]), r"scores must have shape \(H, 6\)"),
        (("margin", p, np.zeros((2, 6)), [1, 1], [0.5, 0.5]), "probabilities of 6 points"),
        (("margin", p, np.zeros((2, 6))), "needs its rho"),
        (("brier", p, np.zeros((2, 6))), "loss must be one of"),
    ]:
        with pytest.raises(ValueError, match=message):
            minimizability_gap(*arguments)
