"""The search for the margins of the least uniform bound."""

import numpy as np
import pytest
from scipy.optimize import minimize

from immax.theory import search_margins, uniform_margin_bound


def sample(c, m=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(max(c, 2)), rng.integers(0, max(c, 2), m - max(c, 2)))
    if c == 1:
        return np.where(y == 1, 1, -1) * rng.normal(0.6, 0.5, m), y
    scores = 0.4 * rng.normal(size=(m, c))
    scores[np.arange(m), y] += 1
    return scores, y


@pytest.mark.parametrize("costs", [None, "some"])
@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_best_margins_are_not_beaten(c, seed, costs):
    h, y = sample(c, seed=seed)
    k = max(c, 2)
    rng = np.random.default_rng(seed)
    moments, radii = rng.uniform(20, 200, k), np.full(k, 4.0)
    scale = 0.3 / len(y)
    w = None if costs is None else rng.uniform(0.5, 3, k)

    def total(rho):
        complexity = scale * np.sqrt(np.sum(moments * (1 if w is None else w) ** 2 / rho**2))
        return uniform_margin_bound(h, y, rho, complexity, radii, costs=w).total

    found = total(search_margins(h, y, moments, radii, scale, costs=w))
    for _ in range(300):
        assert found <= total(radii * 10 ** rng.uniform(-2, 0, k)) + 1e-12
    starts = radii * 10 ** rng.uniform(-1.5, 0, (3, k))
    for start in starts:
        rival = minimize(
            lambda z: total(np.minimum(np.exp(z), radii)), np.log(start), method="Nelder-Mead"
        )
        assert found <= rival.fun + 1e-5


def test_bad_input():
    h, y = sample(1)
    with pytest.raises(ValueError, match="scale must be"):
        search_margins(h, y, [1.0, 1.0], [1.0, 1.0], -0.1)
    with pytest.raises(ValueError, match="moments"):
        search_margins(h, y, [1.0], [1.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="costs must have an entry"):
        search_margins(h, y, [1.0, 1.0], [1.0, 1.0], 0.1, costs=[1.0])
