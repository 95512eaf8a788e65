"""The squared Euclidean norm, from its formula."""

import numpy as np

from immax.penalties import SquaredL2


def test_value_and_conjugate(W):
    assert np.isclose(SquaredL2().value(W), sum(w * w for w in W.ravel()))
    assert np.isclose(SquaredL2().conjugate(W, 0.5), sum(w * w for w in W.ravel()) / 2)
