"""Probabilities that are fitted to held-out scores."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from immax.calibration import ScoreCalibration, fit_calibration

RNG = np.random.default_rng(0)


def test_two_classes_recover_a_sigmoid():
    h = RNG.normal(scale=3, size=20_000)
    y = (RNG.random(h.size) < 1 / (1 + np.exp(2 - 0.7 * h))).astype(int)
    found = fit_calibration(h[:, None], y, 2)
    assert found.slopes == pytest.approx([0.7], abs=0.03)
    assert found.offsets == pytest.approx([-2], abs=0.06)
    np.testing.assert_allclose(found.proba(h), found.proba(h[:, None]))


def test_many_classes_recover_slopes_and_offsets():
    h = RNG.normal(scale=2, size=(20_000, 3))
    slopes, offsets = np.array([0.5, 1.0, 2.0]), np.array([1.0, 0.0, -1.0])
    truth = ScoreCalibration(slopes, offsets).proba(h)
    y = (RNG.random((len(h), 1)) > truth.cumsum(axis=1)).sum(axis=1)
    found = fit_calibration(h, y, 3)
    np.testing.assert_allclose(found.slopes, slopes, rtol=0.05)
    np.testing.assert_allclose(found.offsets - found.offsets.mean(), offsets, atol=0.08)


def test_separable_scores_stay_finite_and_useless_ones_give_the_shares():
    y = np.array([0] * 30 + [1] * 10)
    sure = fit_calibration(np.where(y == 1, 5.0, -5.0), y, 2)
    p = sure.proba(np.array([-5.0, 5.0]))[:, 1]
    assert 0 < p[0] < 0.1
    assert 0.85 < p[1] < 1
    wrong = fit_calibration(np.where(y == 1, -1.0, 1.0), y, 2)
    assert wrong.slopes[0] == 0  # a higher score never means a lower probability
    assert wrong.proba(np.zeros(1))[0, 1] == pytest.approx(0.25, abs=0.03)
    flat = fit_calibration(np.zeros((40, 1)), y, 2)
    assert flat.proba(np.zeros(1))[0, 1] == pytest.approx(0.25, abs=0.03)


def test_weights_count_as_samples():
    h, y = RNG.normal(size=(50, 3)), RNG.integers(0, 3, 50)
    weight = RNG.integers(1, 4, 50)
    rows = np.repeat(np.arange(50), weight)
    one = fit_calibration(h, y, 3, weight).proba(h)
    np.testing.assert_allclose(one, fit_calibration(h[rows], y[rows], 3).proba(h), atol=1e-3)
    assert log_loss(y, one) < np.log(3)
