"""The compiled link against the NumPy code that it replaces."""

import numpy as np
import pytest

from immax import compiled, links, temperature_chains

pytest.importorskip("numba")


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(compiled, "SMALLEST_WORK", 0)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_link_agrees(scale, loss, dtype, eager, monkeypatch):
    rng = np.random.default_rng(0)
    scores = (scale * rng.standard_normal((40, 30))).astype(dtype)
    scores[::2] /= scale  # well-scaled rows among the others
    rho = rng.uniform(0.5, 2, 6)[rng.integers(0, 6, 30)]
    with_numba = links.immax_proba(scores, rho, loss)
    monkeypatch.setattr(temperature_chains, "worth_compiling", lambda _: False)
    without = links.immax_proba(scores, rho, loss)
    tiny = np.finfo(dtype).tiny
    rtol = 2e-5 if dtype == np.float32 else 1e-12
    assert with_numba.dtype == dtype
    assert np.isfinite(with_numba).all()
    if dtype == np.float64 or scale == 1:
        np.testing.assert_allclose(with_numba, without, rtol=rtol, atol=1e-300 + tiny)
    else:  # single precision loses digits of scores divided by margins, not of the kernel's
        np.testing.assert_allclose(with_numba, without, rtol=2e-2, atol=1e-6)


def test_catalogue_link_agrees(eager, monkeypatch):
    from immax.losses import LossSpec

    rng = np.random.default_rng(1)
    scores = rng.standard_normal((20, 8))
    spec = LossSpec(rng.uniform(0.5, 2, 8), weight=rng.uniform(0.5, 2, 8))
    with_numba = links.spec_proba(scores, spec)
    monkeypatch.setattr(temperature_chains, "worth_compiling", lambda _: False)
    np.testing.assert_allclose(with_numba, links.spec_proba(scores, spec), rtol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 3.0, 100.0])
@pytest.mark.parametrize(("classes", "states"), [(60, 60), (90, 45)])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_many_states_are_iterated(classes, states, scale, loss, eager, monkeypatch):
    rng = np.random.default_rng(2)
    scores = scale * rng.standard_normal((20, classes))
    scores[0] = 0
    rho = rng.uniform(0.3, 3, states)[np.arange(classes) % states]
    with_numba = links.immax_proba(scores, rho, loss)
    single = links.immax_proba(scores.astype(np.float32), rho, loss)
    monkeypatch.setattr(temperature_chains, "worth_compiling", lambda _: False)
    monkeypatch.setattr("immax.markov_chains.MOST_STATES", 100)  # so that NumPy reduces
    without = links.immax_proba(scores, rho, loss)
    np.testing.assert_allclose(with_numba, without, rtol=1e-11, atol=1e-60)
    np.testing.assert_allclose(single, without, atol=1e-5 * max(1, scale / 10))


def test_rows_without_overlap_are_left_to_the_reference(eager, monkeypatch):
    from immax.compiled.link import temperature_chain

    # Cold rows give all mass to one class, which gets a 200th of that of hot rows.
    scores = np.zeros((2, 200))
    scores[0, 0] = 1.0
    inverse = np.geomspace(1e-3, 1e3, 200)
    solved = temperature_chain(scores, inverse, np.arange(200), False)[2]
    assert solved.tolist() == [False, True]
    proba = links.immax_proba(scores, 1 / inverse)
    monkeypatch.setattr(temperature_chains, "worth_compiling", lambda _: False)
    np.testing.assert_allclose(proba, links.immax_proba(scores, 1 / inverse), rtol=1e-12)
