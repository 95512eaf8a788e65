"""The compiled softmax kernel against the NumPy kernel, over the registry of methods."""

import numpy as np
import pytest

pytest.importorskip("numba")

from immax.compiled.softmax import softmax_rows
from immax.losses.catalog import METHODS, make_spec
from immax.losses.softmax import SoftmaxKernel


def run(spec, h, y, drop=None, ignored=-100):
    dtype = h.dtype
    columns = (1 / spec.temperature, spec.scale, spec.offset, spec.target_offset, spec.weight)
    plain = bool((spec.scale == 1).all() and not spec.offset.any())
    loss, gradient = np.empty(len(y), dtype), np.empty_like(h)
    dropped = np.empty(0, bool) if drop is None else drop
    result = softmax_rows(
        h,
        y,
        *(column.astype(dtype) for column in columns),
        plain,
        float(spec.focus),
        dropped,
        spec.droppable,
        ignored,
        loss,
        gradient,
        0,
        len(y),
    )
    return loss, gradient, result


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_losses_and_gradients_are_those_of_numpy(method, dtype, scale):
    rng = np.random.default_rng(0)
    counts = np.geomspace(1000, 5, 40)
    spec = make_spec(method, counts)
    h = (scale * rng.standard_normal((60, 40))).astype(dtype)
    y = rng.integers(0, 40, 60)
    drop = spec.draw(60, 0)
    loss, gradient, (bad, total, counted) = run(spec, h, y, drop)
    kernel = SoftmaxKernel(spec, y, drop, dtype=dtype)
    expected = kernel.loss_gradient(h)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(loss, expected[0], rtol=tolerance, atol=tolerance)
    size = np.abs(expected[1]).max()
    np.testing.assert_allclose(gradient, expected[1], rtol=tolerance, atol=tolerance * size)
    assert (bad, counted) == (-1, 60)
    assert total == pytest.approx(loss.astype(np.float64).sum(), rel=1e-5)


def test_labels_that_are_ignored_or_unknown_and_scores_that_are_not_finite():
    spec = make_spec("ce", [5, 5, 5])
    h = np.zeros((5, 3))
    h[3, 1], h[4, 0] = np.nan, np.inf
    loss, gradient, (bad, total, counted) = run(spec, h, np.array([0, -100, 7, 2, 1]))
    np.testing.assert_allclose(loss[:3], [np.log(3), 0, 0])
    assert not gradient[1:3].any()
    assert np.isnan(loss[3:]).all()
    assert np.isnan(gradient[3:]).all()
    assert np.isnan(total)
    assert (bad, counted) == (2, 3)


def test_labels_that_are_classes():
    from immax.compiled.softmax import are_classes

    assert are_classes(np.array([0, 2, 1]), 3)
    assert not are_classes(np.array([0, 3]), 3)
    assert not are_classes(np.array([-100, 0]), 3)
