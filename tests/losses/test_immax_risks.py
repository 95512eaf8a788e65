"""IMMAX's risk, recomputed by plain loops from the paper's formulas."""

import numpy as np
import pytest

from immax.losses.immax_risks import immax_risk

RNG = np.random.default_rng(4)
PSI = {
    "logistic": lambda u: np.log1p(np.exp(-u)),
    "hinge": lambda u: max(0.0, 1 - u),
    "exponential": lambda u: np.exp(-u),
}


@pytest.mark.parametrize("rho", [[1.0, 1.0], [1.7, 0.3], [8.0, 2.0]])
@pytest.mark.parametrize("loss", PSI)
def test_two_classes_have_one_score_and_margins_as_given(loss, rho):
    y, weight, h = RNG.integers(0, 2, 30), RNG.dirichlet(np.ones(30)), RNG.normal(size=(30, 1))
    expected = 0.0
    for i, k in enumerate(y):
        expected += weight[i] * PSI[loss]((1 if k else -1) * h[i, 0] / rho[k])
    for form in ("auto", "max"):
        risk = immax_risk(loss, form, y, np.array(rho), weight)
        assert risk.n_outputs == 1
        assert risk.value(h) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("loss", "form", "maximum"),
    [
        ("logistic", "auto", False),
        ("logistic", "max", True),
        ("exponential", "sum", False),
        ("exponential", "max", True),
        ("hinge", "auto", True),
    ],
)
def test_more_classes_have_a_score_each(loss, form, maximum):
    y, weight = RNG.integers(0, 4, 30), RNG.dirichlet(np.ones(30))
    rho, h = np.array([1.8, 1.2, 0.7, 0.3]), RNG.normal(size=(30, 4))
    expected = 0.0
    for i, k in enumerate(y):
        margins = [(h[i, k] - h[i, j]) / rho[k] for j in range(4) if j != k]
        if maximum:
            term = max(PSI[loss](u) for u in margins)
        elif loss == "logistic":
            term = np.log(1 + sum(np.exp(-u) for u in margins))
        else:
            term = sum(np.exp(-u) for u in margins)
        expected += weight[i] * term
    assert immax_risk(loss, form, y, rho, weight).value(h) == pytest.approx(expected)
