"""The mean IMMAX loss of a batch against that of NumPy."""

import ctypes
import threading

import numpy as np
import pytest

from immax.losses.catalog import make_spec

pytest.importorskip("numba")


def run(h, y, rho, calls=1):
    """Return the job of a mean after some calls of its worker, and the gradient."""
    from immax.compiled.softmax_means import MeanJob, mean_worker

    gradient = np.full_like(h, np.pi)
    job = MeanJob(*h.shape, *[array.ctypes.data for array in (h, y, rho, gradient)])
    for _ in range(calls):
        mean_worker(h.dtype == np.float64).ctypes(ctypes.addressof(job))
    return job, gradient


@pytest.mark.parametrize("c", [2, 10, 32, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 1e4])
def test_loss_and_gradient_are_those_of_numpy(c, dtype, size, monkeypatch):
    from immax.compiled import softmax_means

    entries = 7 * (c + softmax_means.PAD)  # some parts, the last a short one
    monkeypatch.setattr(softmax_means, "ENTRIES_AT_ONCE", entries)
    rng = np.random.default_rng(0)
    h = (size * rng.standard_normal((40, c))).astype(dtype)
    y = rng.integers(0, c, 40)
    spec = make_spec("immax", np.geomspace(500, 5, c))
    job, gradient = run(h, y, spec.temperature.astype(dtype))
    tol = 2e-5 if dtype == np.float32 else 1e-12
    assert job.finished == job.n_parts == 6
    assert job.mean == pytest.approx(spec.loss(h, y).mean(), rel=tol)
    np.testing.assert_allclose(40 * gradient, spec.gradient(h, y), rtol=10 * tol, atol=tol)


def test_a_confident_prediction_keeps_its_small_loss():
    job, gradient = run(np.array([[30.0, 0.0, 0.0]]), np.array([0]), np.ones(3))
    assert job.mean == pytest.approx(2 * np.exp(-30), rel=1e-12)
    assert gradient[0, 0] == pytest.approx(-2 * np.exp(-30), rel=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, -np.nan, np.inf])
def test_scores_that_are_no_numbers_show(wrong):
    h = np.zeros((3, 4))
    h[1, 2] = wrong
    job, gradient = run(h, np.array([0, 1, 2]), np.ones(4))
    assert np.isnan(job.mean)
    assert np.isnan(gradient[1]).all()
    assert np.isfinite(gradient[[0, 2]]).all()


@pytest.mark.parametrize("label", [-100, -1, 4])
def test_nothing_is_done_if_a_label_is_not_a_class(label):
    job, gradient = run(np.zeros((3, 4)), np.array([0, 1, label]), np.ones(4))
    assert job.finished == 0 < job.n_parts
    assert np.isnan(job.mean)
    assert (gradient == np.pi).all()


def test_threads_give_the_bits_of_one_thread():
    from immax.compiled.softmax_means import MeanJob, mean_worker

    rng = np.random.default_rng(0)
    h, y = rng.standard_normal((5000, 30)), rng.integers(0, 30, 5000)
    rho = np.linspace(0.5, 2, 30)
    alone, expected = run(h, y, rho, calls=2)  # the second call finds nothing left
    gradient = np.empty_like(h)
    job = MeanJob(*h.shape, *[array.ctypes.data for array in (h, y, rho, gradient)])
    worker = mean_worker(True).ctypes
    threads = [threading.Thread(target=worker, args=(ctypes.addressof(job),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert job.mean == alone.mean
    np.testing.assert_array_equal(gradient, expected)
