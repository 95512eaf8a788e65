"""The max forms; ``test_risks.py`` has the derivatives of their envelopes."""

import numpy as np
import pytest

from immax.losses.margin_risks import MarginRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.surrogates import SURROGATES, hinge

RNG = np.random.default_rng(2)
N, C = 40, 4
LABELS = RNG.integers(0, C, N)
BINARY = RNG.integers(0, 2, N)
WEIGHT = RNG.dirichlet(np.ones(N))
RHO = np.array([0.4, 0.3, 0.2, 0.1])


@pytest.mark.parametrize("name", SURROGATES)
def test_two_classes_in_the_max_form_are_the_binary_margin(name):
    y = BINARY
    rho = np.array([0.7, 0.3])
    scores = RNG.normal(size=(N, 2))
    slope = np.where(y == 1, 1, -1) / rho[y]
    binary = MarginRisk(SURROGATES[name], slope, np.zeros(N), WEIGHT)
    value = binary.value((scores[:, 1] - scores[:, 0])[:, None])
    assert MaxRisk(SURROGATES[name], y, rho, WEIGHT).value(scores) == pytest.approx(value)


def test_envelope_tends_to_the_risk_as_it_stiffens():
    base = MaxRisk(hinge, LABELS, RHO, WEIGHT)
    scores = RNG.normal(scale=0.1, size=(N, C))
    values = [base.envelope(None, s).value(scores) for s in (1, 10, 100, 1e6)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(base.value(scores), rel=1e-5)
