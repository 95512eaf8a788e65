"""The scale of margins in boosting, and what scores mean."""

import numpy as np
import pytest

from immax.boosting.loss import make_loss
from immax.losses.surrogates import logistic

TWO = np.repeat([0, 1], [90, 10])
THREE = np.repeat([0, 1, 2], [60, 30, 10])


def loss_of(y, margins="theory", power=None):
    parameters = {"method": "immax", "margins": margins, "power": power, "method_params": None}
    return make_loss(y, None, 0, parameters)[0]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(("margins", "power"), [("theory", None), ("equal", None), ("theory", 0.5)])
def test_margins_have_mean_one_by_default(y, margins, power):
    rho = loss_of(y, margins, power).spec.temperature
    assert rho.mean() == pytest.approx(1)
    if margins == "equal":
        np.testing.assert_allclose(rho, 1)


def test_margins_that_are_given_are_not_rescaled():
    assert loss_of(THREE, [3.0, 2.0, 0.5]).spec.temperature.tolist() == [3.0, 2.0, 0.5]
    assert loss_of(TWO, {1: 3.0, 0: 2.0}).spec.temperature.tolist() == [2.0, 3.0]


def test_the_loss_and_probabilities_of_a_single_score():
    loss = loss_of(TWO, [2.0, 0.5])
    h = np.linspace(-3, 3, 13)
    losses = [loss.losses(h, np.full(13, k)) for k in (0, 1)]
    np.testing.assert_allclose(losses[0], logistic.value(-h / 2.0))
    np.testing.assert_allclose(losses[1], logistic.value(h / 0.5))
    # The score minimises the expected loss under the probabilities that it stands for.
    p = loss.proba(h)
    slopes = p[:, 1] * logistic.slope(h / 0.5) / 0.5 - p[:, 0] * logistic.slope(-h / 2.0) / 2.0
    np.testing.assert_allclose(slopes, 0, atol=1e-12)
    gradients = [loss.pairs(h, np.full(13, k))[0] for k in (0, 1)]
    np.testing.assert_allclose(gradients[0], -logistic.slope(-h / 2.0) / 2.0, rtol=1e-5)
    np.testing.assert_allclose(gradients[1], logistic.slope(h / 0.5) / 0.5, rtol=1e-5)
