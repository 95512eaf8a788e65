"""Deferred class weights, and the warm-up of margins."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_cases import COUNTS

import immax.torch as it


@pytest.mark.parametrize("make", [lambda: it.LDAMLoss(COUNTS), lambda: nn.CrossEntropyLoss()])
def test_deferred_reweighting(make):
    criterion = make()
    schedule = it.DeferredReweighting(criterion, COUNTS, start_epoch=2, beta=0.999)
    name = "weight" if isinstance(criterion, nn.CrossEntropyLoss) else "class_weight"
    seen = []
    for _ in range(4):
        schedule.step()
        seen.append(getattr(criterion, name))
    assert seen[:2] == [None, None]
    weights = (1 - 0.999) / (1 - 0.999**COUNTS)
    np.testing.assert_allclose(seen[2].numpy(), weights / weights.mean(), rtol=1e-5)
    logits, target = torch.randn(6, COUNTS.size), torch.randint(0, COUNTS.size, (6,))
    assert torch.isfinite(criterion(logits, target))
    other = make()
    again = it.DeferredReweighting(other, COUNTS, start_epoch=2, beta=0.999)
    again.load_state_dict(schedule.state_dict())
    assert torch.equal(getattr(other, name), seen[3])
    schedule.step(0)
    assert getattr(criterion, name) is None


def test_deferred_reweighting_refuses():
    for loss in (nn.MSELoss(), it.IMMAXBinaryLoss(alpha=0.3)):
        with pytest.raises(ValueError, match="class weights"):
            it.DeferredReweighting(loss, COUNTS, 1)
    with pytest.raises(ValueError, match="beta"):
        it.DeferredReweighting(it.LDAMLoss(COUNTS), COUNTS, 1, beta=1.0)
    schedule = it.DeferredReweighting(it.LDAMLoss(COUNTS), COUNTS, 0, beta=0.0)
    schedule.step()
    assert schedule.loss.class_weight.tolist() == [1.0] * COUNTS.size


@pytest.mark.parametrize("total", ["mean", 1.0])
def test_margin_warmup(total):
    criterion = it.IMMAXLoss(COUNTS, total=total)
    target = criterion.rho.clone()
    warmup = it.MarginWarmup(criterion, steps=4)
    scale = target.mean()
    torch.testing.assert_close(criterion.rho, scale.expand(COUNTS.size))
    ratios = []
    for _ in range(6):
        ratios.append((criterion.rho[0] / criterion.rho[-1]).item())
        assert criterion.rho.sum().item() == pytest.approx(target.sum().item(), rel=1e-5)
        warmup.step()
    full = (target[0] / target[-1]).item()
    assert ratios == pytest.approx([full ** (min(t, 4) / 4) for t in range(6)], rel=1e-4)
    assert torch.equal(criterion.rho, target)
    halfway = it.IMMAXLoss(COUNTS, total=total)
    resumed = it.MarginWarmup(halfway, steps=4)
    resumed.load_state_dict({"taken": 2, "target": target})
    assert (halfway.rho[0] / halfway.rho[-1]).item() == pytest.approx(ratios[2], rel=1e-5)
    with pytest.raises(ValueError, match="steps"):
        it.MarginWarmup(criterion, 0)


def test_margins_of_one_stop_being_cross_entropy_when_they_change():
    criterion = it.IMMAXLoss([5, 5])
    logits, target = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    before = criterion(logits, target)
    criterion.set_margins(torch.tensor([0.5, 1.5]))
    assert criterion(logits, target) < before


def test_state_dicts_go_across_the_switch():
    weighed, plain = it.LDAMLoss(COUNTS), it.LDAMLoss(COUNTS)
    before = {name: value.clone() for name, value in plain.state_dict().items()}
    it.DeferredReweighting(weighed, COUNTS, 0).step()
    plain.load_state_dict(weighed.state_dict())
    assert torch.equal(plain.class_weight, weighed.class_weight)
    weighed.load_state_dict(before)
    assert weighed.class_weight is None


def test_learnt_margins_take_their_sum_along():
    paper, other = (
        it.IMMAXLoss(COUNTS, total=1, learnable=True),
        it.IMMAXLoss(COUNTS, learnable=True),
    )
    other.load_state_dict(paper.state_dict())
    torch.testing.assert_close(other.rho, paper.rho)
