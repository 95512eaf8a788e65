"""Features of images."""

import numpy as np
import pytest

from immax.bench.features import patch_features, pixel_features, reduce_images


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 255, (40, 3, 8, 8)).astype(np.uint8)


def test_pixels_are_standardised_over_the_training_images(images):
    train, test = pixel_features(images[:30], images[30:])
    assert train.dtype == np.float32
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.std(axis=0), 1, atol=1e-4)
    flat = images.reshape(40, -1).astype(float)
    expected = (flat[30:] - flat[:30].mean(axis=0)) / flat[:30].std(axis=0)
    np.testing.assert_allclose(test, expected, atol=1e-3)


def test_patches_depend_on_the_seed_alone(images):
    pytest.importorskip("torch")
    train, test = patch_features(images[:30], images[30:], patches=5, seed=1)
    assert (train.shape, test.shape) == ((30, 40), (10, 40))
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-4)
    again = patch_features(images[:30], images[30:], patches=5, seed=1)
    np.testing.assert_array_equal(test, again[1])
    other = patch_features(images[:30], images[30:], patches=5, seed=2)
    assert not np.allclose(test, other[1])


def test_reduced_images_are_averages_over_squares(images):
    small = reduce_images(images, 4)
    assert (small.shape, small.dtype) == ((40, 3, 4, 4), np.uint8)
    square = images[7, 2, 2:4, 4:6].astype(float)
    assert small[7, 2, 1, 2] == np.rint(square.mean())
    np.testing.assert_array_equal(reduce_images(images, 8), images)
    for size in (3, 16):
        with pytest.raises(ValueError, match=f"must divide .* 8 and 8; got {size}"):
            reduce_images(images, size)
