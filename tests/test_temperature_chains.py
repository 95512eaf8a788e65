"""Chains of softmaxes at several temperatures, against the matrices that they stand for."""

import numpy as np
import pytest

from immax.temperature_chains import select_chain, temperature_chain


def full_matrix(scores, inverse, groups):
    """Return the c by c matrix of one sample, row by row."""
    z = scores * inverse[groups][:, None]
    rows = np.exp(z - z.max(axis=1, keepdims=True))
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("classes", "states"), [(6, 6), (9, 4), (50, 50), (80, 40)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_distribution_is_stationary(classes, states, dtype):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((20, classes)).astype(dtype)
    inverse = np.linspace(0.5, 2, states)
    groups = rng.permutation(np.arange(classes) % states)
    q, staying = temperature_chain(scores, inverse, groups, own=True)
    assert q.dtype == staying.dtype == dtype
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    for h, one, diagonal in zip(scores, q, staying, strict=True):
        A = full_matrix(h.astype(float), inverse, groups)
        np.testing.assert_allclose(one @ A, one, rtol=rtol)
        np.testing.assert_allclose(diagonal, np.diag(A), rtol=rtol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_that_underflow_do_not_disturb_the_others(dtype):
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((6, 5)).astype(dtype)
    inverse, groups = np.linspace(0.5, 2, 5), np.arange(5)
    alone, _ = temperature_chain(scores, inverse, groups, own=False)
    scores[2] *= 60  # too much for single precision
    scores[4] *= 5000  # too much for double precision
    among, none = temperature_chain(scores, inverse, groups, own=False)
    kept = [0, 1, 3, 5]
    np.testing.assert_allclose(among[kept], alone[kept], rtol=1e-6)
    assert none is None
    assert among[4].argmax() == scores[4].argmax()
    assert np.isfinite(among).all()


def test_small_work_is_not_compiled():
    chain, entries = select_chain(1, (10, 6), 3)
    assert chain is temperature_chain
    assert entries == 18
