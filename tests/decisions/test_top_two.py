"""The two best classes of each sample, while the offsets of classes change."""

import numpy as np
import pytest

from immax.decisions.top_two import TopTwo
from immax.plain_rules import highest_argmax


@pytest.mark.parametrize("c", [3, 6])
def test_they_are_those_of_all_scores(c):
    rng = np.random.default_rng(c)
    proba = rng.integers(0, 4, (200, c)).astype(float)
    proba[proba.sum(axis=1) == 0, 0] = 1
    with np.errstate(divide="ignore"):
        log_p = np.log(proba)
    state, offsets, at = TopTwo(log_p, np.zeros(c)), np.zeros(c), np.arange(200)
    for _ in range(100):
        k = int(rng.integers(c))
        offsets[k] = 2 * rng.normal()
        state.move(k, offsets[k])
        scores = log_p + offsets
        np.testing.assert_array_equal(state.first, highest_argmax(scores))
        np.testing.assert_allclose(state.high, scores.max(axis=1))
        scores[at, state.first] = -np.inf
        np.testing.assert_allclose(state.low, scores.max(axis=1))
        known = np.isfinite(state.low)  # no second class has a probability elsewhere
        np.testing.assert_array_equal(scores[at, state.second][known], state.low[known])
