"""The compiled pairs of gradients and Hessians against the NumPy kernel."""

import numpy as np
import pytest

pytest.importorskip("numba")

from immax.boosting import pairs
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec


def both(monkeypatch, *arguments, **options):
    results = []
    for compiled in (True, False):
        monkeypatch.setattr(pairs, "worth_compiling", lambda _, answer=compiled: answer)
        results.append(pairs.gradient_hessian(*arguments, **options))
    return results


@pytest.mark.parametrize("c", [2, 3, 40])
@pytest.mark.parametrize("method", METHODS)
def test_pairs_are_those_of_numpy(method, c, monkeypatch):
    rng = np.random.default_rng(0)
    spec = make_spec(method, np.geomspace(1000, 10, c))
    scores = (3 * rng.standard_normal((200, c))).astype(np.float32)
    scores = scores[:, 0] if c == 2 else scores
    y, weight = rng.integers(0, c, 200), rng.uniform(0.5, 2, 200)
    drop = spec.draw(200, 0)
    ours, reference = both(monkeypatch, spec, scores, y, weight, drop, factor=1.5)
    for found, expected in zip(ours, reference, strict=True):
        size = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * size)


@pytest.mark.parametrize("c", [3, 10, 33])
def test_equal_scores_have_equal_probabilities_to_the_bit(c, monkeypatch):
    """Trees break ties between splits by the last bit."""
    monkeypatch.setattr(pairs, "worth_compiling", lambda _: True)
    rng = np.random.default_rng(0)
    scores = np.repeat(rng.standard_normal((50, 1)), c, axis=1).astype(np.float32)
    scores[:, 0] += 1
    gradients = [
        pairs.gradient_hessian(LossSpec(np.ones(c)), scores, np.full(50, label))[0]
        for label in range(c)
    ]
    for label in range(1, c - 1):
        np.testing.assert_array_equal(gradients[0][:, label], gradients[0][:, c - 1])
        np.testing.assert_array_equal(gradients[label][:, c - 1], gradients[0][:, c - 1])
