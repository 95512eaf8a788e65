"""Features of images for linear models: pixels, or responses to random patches."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler

from immax.arrays import Array

__all__ = ["patch_features", "pixel_features", "reduce_images"]

PATCH = 6  # pixels


def pixel_features(train: Array, *others: Array) -> list[Array]:
    """Return standardised pixels in single precision.

    Parameters
    ----------
    train : ndarray of shape (n, ...)
        The training images, over which pixels get mean zero and standard deviation one.
    *others : ndarray
        Test images.

    Returns
    -------
    list of ndarray of shape (n, n_features)
    """
    flat = [
        np.asarray(images).reshape(len(images), -1).astype(np.float32)
        for images in (train, *others)
    ]
    scaler = StandardScaler(copy=False).fit(flat[0])
    return [np.asarray(scaler.transform(part)) for part in flat]


def patch_features(train: Array, *others: Array, patches: int, seed: int) -> list[Array]:
    """Return responses to random patches of the training images, pooled over quadrants.

    After Coates and Ng: patches are whitened, positive and negative parts of the responses are
    separate features, and the features are standardised.

    Parameters
    ----------
    train : ndarray of shape (n, channels, height, width)
    *others : ndarray
        Test images.
    patches : int
        The number of patches.
    seed : int

    Returns
    -------
    list of ndarray of shape (n, 8 * patches)
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError('patch features need PyTorch: pip install "immax[torch]"') from error
    rng = np.random.default_rng(seed)
    channels = train.shape[1]
    sample = _patches(train, 20_000, rng)
    sample = (sample - sample.mean(1, keepdims=True)) / (sample.std(1, keepdims=True) + 10)
    mean = sample.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((sample - mean).T))
    whiten = (vectors / np.sqrt(np.maximum(values, 0) + 0.1)) @ vectors.T
    chosen = (sample[rng.choice(len(sample), patches, replace=False)] - mean) @ whiten
    chosen /= np.linalg.norm(chosen, axis=1, keepdims=True)
    # Normalised patch times filter is linear in the patch but for its mean and deviation.
    filters = torch.tensor(chosen @ whiten, dtype=torch.float32)
    centred = filters - filters.mean(dim=1, keepdim=True)
    shift = torch.tensor(chosen @ whiten @ mean, dtype=torch.float32)
    kernel = centred.reshape(patches, channels, PATCH, PATCH)
    ones = torch.full((1, channels, PATCH, PATCH), 1.0 / (channels * PATCH * PATCH))

    def respond(images: Array) -> Array:
        parts = []
        for start in range(0, len(images), 256):
            x = torch.from_numpy(np.array(images[start : start + 256])).float()
            average = torch.nn.functional.conv2d(x, ones)
            square = torch.nn.functional.conv2d(x * x, ones)
            deviation = (square - average**2).clamp_min(0).sqrt() + 10
            response = torch.nn.functional.conv2d(x, kernel) / deviation
            response -= shift[:, None, None]
            both = torch.cat([response.clamp_min(0), (-response).clamp_min(0)], dim=1)
            pooled = torch.nn.functional.adaptive_avg_pool2d(both, 2)
            parts.append(pooled.flatten(1).numpy())
        return np.concatenate(parts)

    with torch.inference_mode():
        return pixel_features(*(respond(images) for images in (train, *others)))


def _patches(images: Array, count: int, rng: np.random.Generator) -> Array:
    n, _, height, width = images.shape
    which = rng.integers(0, n, count)
    top = rng.integers(0, height - PATCH + 1, count)
    left = rng.integers(0, width - PATCH + 1, count)
    return np.stack(
        [
            np.asarray(images[i, :, a : a + PATCH, b : b + PATCH], dtype=np.float64).ravel()
            for i, a, b in zip(which, top, left, strict=True)
        ]
    )


def reduce_images(images: Array, size: int) -> Array:
    """Return images of fewer pixels, by averages over squares.

    Parameters
    ----------
    images : ndarray of shape (n, channels, height, width), uint8
    size : int
        Pixels on a side, of which the height and the width are multiples.

    Returns
    -------
    ndarray of shape (n, channels, size, size), uint8
        Averages are rounded to the nearest number.

    Raises
    ------
    ValueError
        If squares of whole pixels do not fill the images.

    Examples
    --------
    >>> reduce_images(np.array([[[[1, 2], [3, 5]]]], dtype=np.uint8), 1)
    array([[[[3]]]], dtype=uint8)
    """
    n, channels, height, width = images.shape
    if size < 1 or height % size or width % size:
        raise ValueError(
            f"size must divide the height and the width of the images, {height} and {width}; "
            f"got {size}"
        )
    squares = images.reshape(n, channels, size, height // size, size, width // size)
    return np.rint(squares.mean(axis=(3, 5), dtype=np.float32)).astype(np.uint8)
