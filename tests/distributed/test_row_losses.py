"""Losses of rows: the risks of parts add up to that of the data."""

import numpy as np
import pytest

from immax.distributed.row_losses import IMMAXRows, MethodRows
from immax.losses.catalog import make_spec
from immax.losses.softmax_risks import SoftmaxRisk

Y = np.array([0, 1, 2, 0, 1, 0, 2, 0])
WEIGHT = np.arange(1.0, 9.0)
COUNTS = np.bincount(Y, WEIGHT)
PLACES = np.arange(8)
SCORES = np.random.default_rng(0).normal(size=(8, 3))


def added(loss):
    parts = [slice(0, 3), slice(3, 8)]
    return sum(
        loss.risk(Y[rows], WEIGHT[rows], PLACES[rows], np.dtype(float)).value(SCORES[rows])
        for rows in parts
    )


def test_margins_and_weights_are_those_of_all_rows():
    rho, weights = np.array([1.5, 1.0, 0.5]), np.array([1.0, 2.0, 4.0])
    found = added(IMMAXRows("logistic", "auto", rho, weights / (weights @ COUNTS)))
    expected = 0.0
    for i, k in enumerate(Y):
        loss = np.log(sum(np.exp((SCORES[i, j] - SCORES[i, k]) / rho[k]) for j in range(3)))
        expected += WEIGHT[i] * weights[k] * loss
    assert found == pytest.approx(expected / sum(WEIGHT * weights[Y]))


@pytest.mark.parametrize("method", ["ce", "equal"])
def test_draws_are_those_of_all_rows(method):
    spec = make_spec(method, COUNTS)
    drop = spec.draw(8, 3)
    whole = SoftmaxRisk(spec, Y, WEIGHT / WEIGHT.sum(), drop).value(SCORES)
    assert added(MethodRows(spec, WEIGHT.sum(), 3)) == pytest.approx(whole)
