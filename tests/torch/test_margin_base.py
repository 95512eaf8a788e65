"""Fixed and learnt margins of a module."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch_cases import COUNTS

import immax.torch as it

C = COUNTS.size


def test_learnable_margins_learn_and_keep_their_sum(batch):
    logits, target = batch
    criterion = it.IMMAXLoss(COUNTS, learnable=True)
    optimizer = torch.optim.SGD(criterion.parameters(), 1.0)
    before = criterion.rho.detach().clone()
    np.testing.assert_allclose(before.numpy(), it.IMMAXLoss(COUNTS).rho.numpy(), rtol=1e-5)
    criterion(logits.float(), target).backward()
    optimizer.step()
    assert not torch.allclose(criterion.rho, before)
    assert criterion.rho.sum().item() == pytest.approx(C, rel=1e-5)
    with pytest.raises(ValueError, match="learnt margins cannot be set"):
        criterion.set_margins(before)


@pytest.mark.filterwarnings("ignore:You are using `torch.load`:FutureWarning")  # PyTorch 2.4
@pytest.mark.parametrize("learnable", [False, True])
def test_buffers_follow_and_come_back(learnable, batch, tmp_path):
    logits, target = batch
    criterion = it.IMMAXLoss(COUNTS, learnable=learnable, weight=[1.0] * (C - 1) + [2.0])
    state = criterion.state_dict()
    assert ("log_rho" if learnable else "fixed_rho") in state
    assert "class_weight" in state
    torch.save(state, tmp_path / "loss.pt")
    other = it.IMMAXLoss([1] * C, learnable=learnable, weight=[1.0] * C)
    other.load_state_dict(torch.load(tmp_path / "loss.pt", weights_only=True))
    assert other(logits.float(), target) == criterion(logits.float(), target)
    assert criterion.half().rho.dtype == torch.float16
    assert criterion.to("meta").rho.device.type == "meta"
    for copied in (copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert copied(logits.float(), target) == other(logits.float(), target)


def test_margins_that_vanish_in_their_precision_are_refused():
    with pytest.raises(ValueError, match=r"rho\[1\] is 0.0; it must be a positive"):
        it.IMMAXLoss([1000, 1], power=20)


def test_margins_can_be_assigned():
    criterion = it.IMMAXLoss(COUNTS)
    criterion.rho = torch.ones(C)
    assert criterion.state_dict()["fixed_rho"].tolist() == [1.0] * C
    for wrong in (torch.ones(C - 1), torch.zeros(C)):
        with pytest.raises(ValueError, match="rho"):
            criterion.rho = wrong
    with pytest.raises(ValueError, match="learnt margins cannot be set"):
        it.IMMAXLoss(COUNTS, learnable=True).rho = torch.ones(C)


def test_margins_far_from_one_are_warned_of():
    with pytest.warns(UserWarning, match=r"mean 0.01, .* 100 times larger.*clip gradients"):
        it.IMMAXLoss([5] * 100, total=1)
    with pytest.warns(UserWarning, match="50 times smaller"):
        it.IMMAXHingeLoss(rho=[50.0, 50.0])
    it.IMMAXLoss([90, 10], total=1)
    it.IMMAXLoss([5] * 100)
