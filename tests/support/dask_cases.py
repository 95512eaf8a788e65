"""Samples whose partitions are on the workers of a test's choice."""

import dask.array as da
import numpy as np
from sklearn.datasets import make_classification

LABELS = np.array(["a", "b", "c"])


def sample(c, n=400):
    """Return samples sorted by class, so that partitions lack classes."""
    X, y = make_classification(
        n,
        6,
        n_informative=4,
        n_classes=c,
        weights=[0.7] + [0.3 / (c - 1)] * (c - 2),
        random_state=0,
    )
    order = np.argsort(y, kind="stable")
    return X[order], LABELS[y[order]]


def place(values, client, parts=4):
    """Return an array whose partitions are on either worker, half of them each."""
    workers = list(client.scheduler_info()["workers"])
    blocks = np.array_split(values, parts)
    futures = [
        client.scatter(block, workers=[workers[2 * number // parts]], hash=False)
        for number, block in enumerate(blocks)
    ]
    arrays = [
        da.from_delayed(future, block.shape, dtype=values.dtype)
        for future, block in zip(futures, blocks, strict=True)
    ]
    return da.concatenate(arrays)
