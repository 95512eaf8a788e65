"""The kernel of LossSpec: derivatives by finite differences over the registry, and extremes."""

import numpy as np
import pytest

from immax.losses import LossSpec
from immax.losses.catalog import METHODS, make_spec

COUNTS = [700, 250, 45, 5]
RNG = np.random.default_rng(1)
SCORES = RNG.normal(scale=2, size=(30, 4))
LABELS = RNG.integers(0, 4, 30)
# A spec with every part of the family at once.
EVERYTHING = LossSpec(
    [0.5, 1.0, 2.0, 0.7],
    scale=[1.0, 0.5, 2.0, 1.5],
    offset=[0.1, -1.0, 0.3, 2.0],
    target_offset=[0.5, 0.0, 1.0, -0.2],
    weight=[1.0, 2.0, 0.5, 3.0],
    focus=1.7,
    droppable=[False, True, False, True],
    drop_rate=0.5,
)
SPECS = [*(make_spec(name, COUNTS) for name in METHODS), EVERYTHING]
specs = pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)


@specs
def test_gradient_by_finite_differences(spec):
    gradient = spec.gradient(SCORES, LABELS, 3)
    step = 1e-6
    for j in range(4):
        shift = np.zeros(4)
        shift[j] = step
        slope = spec.loss(SCORES + shift, LABELS, 3) - spec.loss(SCORES - shift, LABELS, 3)
        np.testing.assert_allclose(gradient[:, j], slope / (2 * step), rtol=1e-6, atol=1e-7)


@specs
def test_hessian_product_by_finite_differences(spec):
    vectors = RNG.normal(size=SCORES.shape)
    step = 1e-6
    ahead = spec.gradient(SCORES + step * vectors, LABELS, 3)
    behind = spec.gradient(SCORES - step * vectors, LABELS, 3)
    product = spec.hessian_product(SCORES, LABELS, vectors, 3)
    np.testing.assert_allclose(product, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6)


@specs
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_no_overflow_at_extreme_scores(spec, dtype, size):
    scores = np.zeros((8, 4), dtype)
    labels = np.arange(8) % 4
    scores[np.arange(4), labels[:4]] = size
    scores[4:, 2] = size
    loss = spec.loss(scores, labels, 0)
    gradient = spec.gradient(scores, labels, 0)
    product = spec.hessian_product(scores, labels, np.ones_like(scores), 0)
    for array in (loss, gradient, product):
        assert np.isfinite(array).all()
        assert array.dtype == dtype
    assert (loss >= 0).all()


@specs
def test_float32_follows_float64(spec):
    single = spec.loss(SCORES.astype(np.float32), LABELS, 0)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, spec.loss(SCORES, LABELS, 0), rtol=2e-5, atol=1e-6)


def test_confident_samples_keep_their_relative_precision():
    scores = np.array([[50.0, 0.0]])
    spec = LossSpec([1.0, 1.0])
    expected = np.exp(-50.0)
    np.testing.assert_allclose(spec.loss(scores, [0]), expected, rtol=1e-12)
    np.testing.assert_allclose(spec.gradient(scores, [0]), [[-expected, expected]], rtol=1e-12)


def test_memory_order_makes_no_difference():
    spec = make_spec("immax", COUNTS)
    by_class = np.asfortranarray(SCORES)
    np.testing.assert_allclose(spec.gradient(by_class, LABELS), spec.gradient(SCORES, LABELS))
    assert spec.gradient(by_class, LABELS).flags.f_contiguous


def test_ten_thousand_classes():
    c = 10_000
    spec = make_spec("immax", np.arange(1, c + 1), total=c)
    scores = RNG.normal(size=(3, c))
    gradient = spec.gradient(scores, np.array([0, 5000, 9999]))
    np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)


def test_inputs_are_not_changed():
    scores = SCORES.copy()
    for spec in SPECS:
        spec.loss(scores, LABELS, 0)
        spec.gradient(scores, LABELS, 0)
        spec.hessian_product(scores, LABELS, scores, 0)
    np.testing.assert_array_equal(scores, SCORES)


def test_a_wrong_shape_names_the_argument():
    spec = make_spec("ce", COUNTS)
    with pytest.raises(ValueError, match="vectors must have shape"):
        spec.hessian_product(SCORES, LABELS, SCORES[:, :2])
