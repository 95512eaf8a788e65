"""The l1 norm, from its formula."""

import numpy as np

from immax.penalties import L1Norm


def test_value_and_dual_norm(W):
    assert np.isclose(L1Norm().value(W), sum(abs(w) for w in W.ravel()))
    assert L1Norm().dual_norm(W) == max(abs(w) for w in W.ravel())
