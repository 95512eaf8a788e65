"""Hinge, exponential and binary forms of IMMAX as functions."""

from functools import partial

import numpy as np
import pytest
import torch
from torch_cases import COUNTS

import immax.torch as it
from immax.losses import surrogates
from immax.margins import theory_margins
from immax.torch.surrogates import (
    immax_binary_loss,
    immax_exponential_loss,
    immax_hinge_loss,
    immax_logistic_max_loss,
)

C = COUNTS.size


def test_hinge_and_exponential_are_the_surrogates(batch):
    logits, target = batch
    h, y = logits.numpy() / 3, target.numpy()
    rho = theory_margins(COUNTS, total=C)
    tensors = torch.tensor(h), target, torch.tensor(rho)
    found = immax_hinge_loss(*tensors, reduction="none").numpy()
    expected = surrogates.max_form(surrogates.hinge, h, y, rho)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    found = immax_exponential_loss(*tensors, reduction="none", form="max").numpy()
    expected = surrogates.max_form(surrogates.exponential, h, y, rho)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = immax_logistic_max_loss(*tensors, reduction="none").numpy()
    gaps = [max((h[i, j] - h[i, k]) / rho[k] for j in range(C) if j != k) for i, k in enumerate(y)]
    np.testing.assert_allclose(found, np.log1p(np.exp(gaps)), rtol=1e-12)
    found = immax_exponential_loss(*tensors, reduction="none").numpy()
    loops = [
        sum(np.exp((h[i, j] - h[i, k]) / rho[k]) for j in range(C) if j != k)
        for i, k in enumerate(y)
    ]
    np.testing.assert_allclose(found, loops, rtol=1e-12)


MAX_FORM = partial(it.IMMAXLoss, form="max")


@pytest.mark.parametrize("module", [it.IMMAXHingeLoss, it.IMMAXExponentialLoss, MAX_FORM])
def test_other_surrogates_reduce_as_cross_entropy_does(module, batch):
    logits, target = batch
    target[::4] = -100
    weight = [1.0, 2, 3, 4, 5]
    none = module(COUNTS, reduction="none")(logits, target)
    assert not none[::4].any()
    counted = target != -100
    mean = module(COUNTS)(logits, target)
    torch.testing.assert_close(mean, none[counted].mean())
    weights = torch.tensor(weight, dtype=torch.float64)[target[counted]]
    weighed = module(COUNTS, weight=weight)(logits, target)
    torch.testing.assert_close(weighed, (none[counted] * weights).sum() / weights.sum())
    image = module(COUNTS)(torch.zeros(2, C, 3, 3), torch.zeros(2, 3, 3, dtype=torch.long))
    assert image.shape == ()
    single = module(COUNTS, reduction="none")(logits[1], target[1])
    torch.testing.assert_close(single, none[1])
    with pytest.raises(IndexError, match="target holds 5"):
        module(COUNTS)(logits, torch.full_like(target, C))


@pytest.mark.parametrize("function", [immax_hinge_loss, immax_exponential_loss])
def test_the_class_of_a_wrong_margin_is_named(function, batch):
    logits, target = batch
    rho = torch.tensor([1.0, 1, 0, 1, 1], dtype=torch.float64)
    with pytest.raises(ValueError, match=r"rho\[2\] is 0.0; it must be a positive"):
        function(logits, target, rho)


def test_the_binary_loss_names_the_class_of_a_wrong_margin():
    with pytest.raises(ValueError, match=r"rho\[1\] is -1.0; it must be a positive"):
        immax_binary_loss(torch.zeros(2), torch.zeros(2), torch.tensor([1.0, -1.0]))
