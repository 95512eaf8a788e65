"""The arguments of ``F.cross_entropy``: shapes, reductions, weights, ignored labels, errors."""

from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_cases import COUNTS, make

from immax.losses import LossSpec, catalog
from immax.torch.functional import immax_loss, spec_loss

C = COUNTS.size
PLAIN = LossSpec(np.ones(C))
SHAPES = [(C,), (7, C), (3, C, 4), (2, C, 3, 5)]


def labelled(shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(shape, generator=generator, dtype=dtype)
    labels = shape[:0] if len(shape) == 1 else shape[:1] + shape[2:]
    return logits, torch.randint(0, C, labels, generator=generator)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_plain_spec_is_cross_entropy(shape, reduction, route):
    weights = torch.linspace(0.5, 2, C, dtype=torch.float64)
    for weight, smoothing, ignore in product((None, weights), (0.0, 0.3), (-100, 2, -1)):
        logits, target = labelled(shape)
        if target.ndim:
            target.flatten()[::3] = ignore
        options = {"ignore_index": ignore, "reduction": reduction, "label_smoothing": smoothing}
        ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
        found = spec_loss(ours, target, PLAIN, weight, **options)
        expected = F.cross_entropy(theirs, target, weight, **options)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
        found.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-14)


def test_every_method_takes_every_shape(spec, route):
    if spec.random:
        spec = LossSpec(spec.temperature, droppable=spec.droppable)  # never dropped
    for shape in SHAPES:
        logits, target = labelled(shape)
        loss = spec_loss(logits.requires_grad_(), target, spec, reduction="none")
        rows = logits.detach().movedim(1 if logits.ndim > 1 else 0, -1).reshape(-1, C).numpy()
        expected = spec.loss(rows, target.reshape(-1).numpy())
        assert loss.shape == target.shape
        np.testing.assert_allclose(loss.detach().reshape(-1).numpy(), expected, rtol=1e-12)


def test_the_mean_divides_by_the_callers_weights_only(batch, route):
    logits, target = batch
    target[3] = -100
    weight = torch.linspace(0.5, 2, C, dtype=torch.float64)
    counted = target != -100
    losses = spec_loss(logits, target, make("rw"), reduction="none")
    mean = spec_loss(logits.requires_grad_(), target, make("rw"))
    assert mean.item() == pytest.approx(losses.sum().item() / counted.sum().item(), rel=1e-12)
    weights = weight[target[counted]]
    mean = spec_loss(logits, target, make("rw"), weight)
    expected = (losses[counted] * weights).sum() / weights.sum()
    assert mean.item() == pytest.approx(expected.item(), rel=1e-12)


def test_empty_and_wholly_ignored_batches_do_as_cross_entropy(spec, route):
    for rows, reduction in product((0, 4), ("mean", "sum", "none")):
        logits = torch.zeros(rows, C, requires_grad=True)
        target = torch.full((rows,), -100)
        found = spec_loss(logits, target, spec, reduction=reduction)
        expected = F.cross_entropy(logits, target, reduction=reduction)
        torch.testing.assert_close(found, expected, equal_nan=True)
        found.sum().backward()
        assert not logits.grad.any()


def test_gradients_of_ignored_samples_are_zero(spec, batch, route):
    logits, target = batch
    target[::2] = -100
    logits.requires_grad_()
    spec_loss(logits, target, spec).backward()
    assert not logits.grad[::2].any()
    assert logits.grad[1::2].any(dim=1).all()


def test_a_label_that_is_no_class_is_named(spec, batch, route):
    logits, target = batch
    for bad in (C, C + 7, -1):
        target[5] = bad
        with pytest.raises(IndexError, match=rf"target holds {bad}.*0 to {C - 1}.*-100"):
            spec_loss(logits.requires_grad_(), target, spec)


def test_smaller_integers_are_labels_too(batch):
    logits, target = batch
    rho = torch.linspace(0.5, 1.5, C, dtype=torch.float64)
    expected = immax_loss(logits, target, rho)
    for dtype in (torch.int32, torch.uint8):
        assert immax_loss(logits, target.to(dtype), rho) == expected


ONES = torch.ones(C)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"target": torch.rand(12)}, ValueError, "holds class probabilities"),
        ({"target": torch.zeros(11, dtype=torch.long)}, ValueError, r"target must have shape \(12"),
        ({"logits": torch.zeros(12, C, dtype=torch.long)}, ValueError, "logits must be floating"),
        ({"rho": torch.ones(C + 1)}, ValueError, r"rho must have shape \(5,\)"),
        (
            {"rho": torch.tensor([1.0, 1, 0, 1, 1])},
            ValueError,
            r"rho\[2\] is 0.0; it must be",
        ),
        ({"rho": torch.tensor([1.0, 1, float("nan"), 1, 1])}, ValueError, r"rho\[2\] is nan; it"),
        ({"rho": torch.ones(C, device="meta")}, ValueError, "rho must be on the logits' device"),
        ({"weight": torch.ones(2)}, ValueError, r"weight must have shape \(5,\)"),
        ({"reduction": "average"}, ValueError, "reduction must be one of"),
        ({"label_smoothing": 1.5}, ValueError, "label_smoothing must be from 0 to 1"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    arguments = {
        "logits": torch.zeros(12, C),
        "target": torch.zeros(12, dtype=torch.long),
        "rho": ONES,
    }
    with pytest.raises(error, match=message):
        immax_loss(**(arguments | change))


def test_a_spec_of_other_classes_is_refused(batch):
    with pytest.raises(ValueError, match="logits have 5 classes, the loss has 2"):
        spec_loss(*batch, catalog.ce([1, 1]))


def test_smoothing_does_not_go_with_focus(batch):
    with pytest.raises(ValueError, match="label_smoothing cannot be combined with"):
        spec_loss(*batch, make("focal"), label_smoothing=0.1)


def test_draws_follow_the_seed(batch):
    logits, target = batch
    logits, target = logits.repeat(20, 1), target.repeat(20)
    spec = make("equal")
    torch.manual_seed(0)
    first = spec_loss(logits, target, spec)
    second = spec_loss(logits, target, spec)
    torch.manual_seed(0)
    assert spec_loss(logits, target, spec) == first != second


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_not_hidden(bad, spec, batch, route):
    logits, target = batch
    column = int(target[2] == 0)  # frequent: never dropped
    assert not spec.droppable[column]
    logits[2, column] = bad
    h = logits.requires_grad_()
    losses = spec_loss(h, target, spec, reduction="none")
    assert losses[2].isnan()
    assert losses.isnan().sum() == 1
    losses.sum().backward()
    assert h.grad[2].isnan().sum() >= C - spec.droppable.sum()
    assert not h.grad[[0, 1, 3]].isnan().any()


def test_masked_scores_are_fine(spec, batch, route):
    logits, target = batch
    column = (int(target[2]) + 1) % C
    logits[2, column] = -torch.inf
    h = logits.requires_grad_()
    loss = spec_loss(h, target, spec)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(h.grad).all()
    assert h.grad[2, column] == 0


def test_one_hot_targets_are_refused(batch):
    logits, target = batch
    with pytest.raises(ValueError, match="target must have shape"):
        immax_loss(logits, F.one_hot(target, C), torch.linspace(0.5, 1.5, C))


def test_a_scaled_loss_of_nothing_has_no_gradient(batch, route):
    logits, target = batch
    ones = torch.ones(C, dtype=torch.float64)
    h = logits.requires_grad_()
    loss = immax_loss(h, torch.full_like(target, -100), ones, ones)
    (loss * 65536).backward()
    assert not h.grad.any()


@pytest.mark.parametrize("logits", [torch.tensor(1.0), torch.zeros(2, 3)])
def test_scalars_and_lists_get_a_clear_error(logits):
    target = torch.zeros(logits.shape[:1], dtype=torch.long)
    with pytest.raises((ValueError, TypeError), match=r"logits must be|rho must be a Tensor"):
        immax_loss(logits, target, [1.0, 1.0, 1.0])
