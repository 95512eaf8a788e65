"""Bounds by surrogate risks, and surrogates of one's own."""

import math

import numpy as np
import pytest

from immax.theory import check_psi, margin_bound, surrogate_bound, uniform_margin_bound

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 80)
H = np.where(Y == 1, 1, -1) * RNG.normal(0.5, 0.6, 80)
RHO = [0.4, 0.9]
PLAIN = {
    "hinge": lambda u: max(0.0, 1 - u),
    "logistic": lambda u: math.log2(1 + math.exp(-u)),
    "exponential": lambda u: math.exp(-u),
}


@pytest.mark.parametrize("psi", PLAIN)
def test_the_risk_is_that_of_plain_loops(psi):
    expected = np.mean(
        [PLAIN[psi]((1 if k else -1) * h / RHO[k]) for h, k in zip(H, Y, strict=True)]
    )
    bound, margin = (
        f(H, Y, RHO, 0.05) for f in (lambda *a: surrogate_bound(*a, psi), margin_bound)
    )
    assert bound.empirical == pytest.approx(expected)
    assert bound.total >= margin.total
    assert (bound.complexity, bound.confidence) == (margin.complexity, margin.confidence)


@pytest.mark.parametrize("psi", PLAIN)
def test_several_classes_take_the_maximum(psi):
    y = RNG.integers(0, 3, 40)
    scores, rho = RNG.normal(size=(40, 3)), [0.5, 1.0, 0.3]
    expected = np.mean(
        [
            max(PLAIN[psi]((h[k] - h[j]) / rho[k]) for j in range(3) if j != k)
            for h, k in zip(scores, y, strict=True)
        ]
    )
    assert surrogate_bound(scores, y, rho, 0.1, psi).empirical == pytest.approx(expected)


def test_uniform_and_scaled_forms():
    radii = [2.0, 2.0]
    bound = surrogate_bound(H, Y, RHO, 0.05, "hinge", radii=radii)
    uniform = uniform_margin_bound(H, Y, RHO, 0.05, radii)
    assert (bound.complexity, bound.confidence) == (uniform.complexity, uniform.confidence)
    total = sum(RHO)  # h / (rho_+ + rho_-) has the same error, and its risk in the scaled form
    scaled = surrogate_bound(H / total, Y, RHO, 0.05, "hinge", radii=radii, scaled=True)
    assert scaled.total == pytest.approx(bound.total)
    loops = [
        max(0, 1 - (1 if k else -1) * h / total * (RHO[0] + RHO[1]) / RHO[k])
        for h, k in zip(H, Y, strict=True)
    ]
    assert scaled.empirical == pytest.approx(np.mean(loops))
    costly = surrogate_bound(H, Y, RHO, 0.05, costs=[1.0, 3.0])
    hinge = np.array([max(0, 1 - (1 if k else -1) * h / RHO[k]) for h, k in zip(H, Y, strict=True)])
    assert costly.empirical == pytest.approx(np.mean(np.where(Y == 1, 3, 1) * hinge))


def test_surrogates_of_ones_own():
    def smooth(u):
        return np.log1p(np.exp(-3 * (u - 1))) / np.log1p(np.exp(3)) * 1.2 + np.maximum(0, 1 - u)

    assert surrogate_bound(H, Y, RHO, 0.05, smooth).empirical > 0
    for psi, message in [
        (lambda u: np.log1p(np.exp(-u)), r"psi\(0\) = 0.6931"),
        (lambda u: np.maximum(1, 1 + u), "psi must not increase"),
        (lambda u: 1 + np.minimum(0, 3 - u), "below the margin loss"),
        (lambda u: 2.5 + np.tanh(-u), "psi must be convex"),
        (lambda u: u[:3], "a number for each margin"),
        ("square", "'hinge', 'logistic', 'exponential' or a function"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_psi(psi)
