"""The elastic net, from its formula and its limits."""

import numpy as np

from immax.penalties import ElasticNet, L1Norm, SquaredL2


def test_the_value_is_a_mixture(W):
    expected = 0.3 * L1Norm().value(W) + 0.7 * SquaredL2().value(W)
    assert np.isclose(ElasticNet(0.3).value(W), expected)


def test_a_ratio_of_one_is_l1(W):
    net, l1 = ElasticNet(1.0), L1Norm()
    np.testing.assert_array_equal(net.prox(W, 0.2), l1.prox(W, 0.2))
    assert net.conjugate(W, 0.1) == l1.conjugate(W, 0.1) == np.inf
