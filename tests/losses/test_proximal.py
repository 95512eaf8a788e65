"""The proximal map of the max forms."""

import numpy as np
import pytest
from scipy.optimize import minimize

from immax.losses.proximal import max_prox
from immax.losses.surrogates import SURROGATES

RNG = np.random.default_rng(2)
C = 4
RHO = np.array([0.4, 0.3, 0.2, 0.1])


@pytest.mark.parametrize("name", SURROGATES)
def test_max_prox_minimises(name):
    surrogate = SURROGATES[name]
    centre = RNG.normal(size=(12, C))
    y = RNG.integers(0, C, 12)
    margin = RHO[y]
    stiffness = RNG.uniform(0.5, 20, 12)
    point, u = max_prox(surrogate, centre, y, margin, stiffness)
    for i in range(12):

        def objective(z, i=i):
            others = np.delete(z, y[i])
            loss = surrogate.value(np.asarray((z[y[i]] - others.max()) / margin[i]))
            return float(loss) + stiffness[i] / 2 * np.sum((z - centre[i]) ** 2)

        rival = np.delete(point[i], y[i]).max()
        assert u[i] == pytest.approx((point[i][y[i]] - rival) / margin[i], abs=1e-12)

        best = objective(point[i])
        for _ in range(200):
            trial = point[i] + RNG.normal(size=C) * 10 ** RNG.uniform(-6, 0)
            assert objective(trial) >= best - 1e-13
        found = minimize(objective, centre[i], method="Nelder-Mead", options={"maxiter": 4000})
        assert found.fun >= best - 1e-9
