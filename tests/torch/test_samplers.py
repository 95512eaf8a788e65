"""Samplers that draw rare classes more often."""

import numpy as np
import pytest
import torch

import immax.torch as it


@pytest.mark.parametrize(
    ("make", "power"), [(it.class_balanced_sampler, 0.0), (it.square_root_sampler, 0.5)]
)
def test_samplers(make, power):
    labels = np.repeat([0, 1, 2], [900, 90, 10])
    sampler = make(labels, 30_000, torch.Generator().manual_seed(0))
    drawn = np.bincount(labels[list(sampler)], minlength=3) / 30_000
    expected = np.array([900, 90, 10.0]) ** power
    np.testing.assert_allclose(drawn, expected / expected.sum(), atol=0.015)
    assert len(make(labels)) == 1000
    same = make(labels, 30_000, torch.Generator().manual_seed(0))
    assert list(same) == list(make(labels, 30_000, torch.Generator().manual_seed(0)))
