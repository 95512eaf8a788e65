"""Targets that are class probabilities, with the meaning that cross-entropy gives them."""

import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS

import immax.torch as it
from immax.torch.functional import immax_loss, spec_loss

C = COUNTS.size


def soft(n=12):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(n, C, generator=generator, dtype=torch.float64).softmax(1)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_unit_margins_are_cross_entropy(batch, reduction, smoothing, weighted):
    logits, _ = batch
    target = soft()
    weight = torch.linspace(0.5, 2, C, dtype=torch.float64) if weighted else None
    expected = F.cross_entropy(
        logits, target, weight, reduction=reduction, label_smoothing=smoothing
    )
    # Margins that are one only to the last digit take the general code.
    for rho in (torch.ones(C, dtype=torch.float64), torch.full((C,), 1 + 1e-15).double()):
        found = immax_loss(
            logits, target, rho, weight, reduction=reduction, label_smoothing=smoothing
        )
        torch.testing.assert_close(found, expected)
    nearly = torch.tensor([1, 1, 1 + 1e-12, 1, 1], dtype=torch.float64)
    found = immax_loss(logits, target, nearly, weight, -100, reduction, smoothing)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_that_of_a_random_label(batch, spec, smoothing):
    logits, _ = batch
    if smoothing and (spec.focus or spec.random):
        pytest.skip("no label smoothing")
    weight = torch.linspace(0.5, 2, C, dtype=torch.float64)
    target = soft()
    expected = torch.zeros(12, dtype=torch.float64)
    for k in range(C):
        generator = torch.Generator().manual_seed(5)
        hard = spec_loss(
            logits,
            torch.full((12,), k),
            spec,
            weight,
            reduction="none",
            label_smoothing=smoothing,
            generator=generator,
        )
        expected += target[:, k] * hard
    generator = torch.Generator().manual_seed(5)
    found = spec_loss(
        logits,
        target,
        spec,
        weight,
        reduction="none",
        label_smoothing=smoothing,
        generator=generator,
    )
    torch.testing.assert_close(found, expected)


def test_one_hot_targets_are_class_numbers(batch):
    logits, target = batch
    for criterion in (it.IMMAXLoss(COUNTS, label_smoothing=0.1), it.LDAMLoss(COUNTS)):
        hot = F.one_hot(target, C).double()
        torch.testing.assert_close(criterion(logits, hot), criterion(logits, target))
        pixels = logits.T.reshape(1, C, 3, 4)
        expected = criterion(pixels, target.view(1, 3, 4))
        torch.testing.assert_close(criterion(pixels, hot.T.reshape(1, C, 3, 4)), expected)
        torch.testing.assert_close(criterion(logits[0], hot[0]), criterion(logits[0], target[0]))


def test_gradients(batch, spec):
    logits = batch[0][:3].clone().requires_grad_()
    target = soft(3).requires_grad_()

    def loss(h, t):
        generator = torch.Generator().manual_seed(5)
        return spec_loss(h, t, spec, reduction="none", generator=generator)

    assert torch.autograd.gradcheck(loss, (logits, target))


def test_extreme_scores(batch, spec):
    logits = (1e4 * batch[0]).float().requires_grad_()
    loss = spec_loss(logits, soft().float(), spec)
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()


def test_half_precision_and_wrong_targets(batch):
    logits, target = batch
    criterion = it.IMMAXLoss(COUNTS)
    assert criterion(logits.bfloat16(), soft().bfloat16()).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="holds class probabilities"):
        criterion(logits, target.double())
    with pytest.raises(TypeError, match="are for IMMAXLoss"):
        it.IMMAXHingeLoss(COUNTS)(logits, soft())
    with pytest.raises(TypeError, match="int64"):
        criterion(logits, target.bool())
