"""Every penalty, with weights and gradients to try it on."""

import numpy as np
import pytest

from immax.penalties import PENALTIES, GroupNorm, make_penalty

ALL = {
    **{name: make_penalty(name, l1_ratio=0.4) for name in PENALTIES},
    "groups": GroupNorm(np.array([0, 1, 0, 2, 1])),
}


@pytest.fixture(params=ALL)
def penalty(request):
    return ALL[request.param]


@pytest.fixture
def W():  # noqa: N802
    W = np.random.default_rng(0).normal(size=(3, 5))
    W[:, 1] = 0
    W[0, 3] = 0
    return W
