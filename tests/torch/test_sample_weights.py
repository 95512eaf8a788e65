"""The average class weight of a batch."""

import pytest
import torch
import torch.nn.functional as F

import immax.torch as it
from immax.torch.sample_weights import mean_weight

COUNTS = [60.0, 30.0, 10.0]


def test_mean_weight():
    weight = torch.tensor([1.0, 4.0])
    assert mean_weight(torch.tensor([[0, 1], [1, -100]]), weight).item() == 3
    assert mean_weight(torch.tensor([[0.5, 0.5], [0.0, 1.0]]), weight).item() == 3.25
    assert mean_weight(torch.tensor([0.5, 0.5]), weight).item() == 2.5
    assert mean_weight(torch.tensor([-100]), weight).item() == 1


@pytest.mark.parametrize("given", [None, [1.0, 2.0, 3.0]])
def test_the_average_weight_of_a_batch_is_one(given):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(20, 3, generator=generator, dtype=torch.float64)
    target = torch.randint(0, 3, (20,), generator=generator)
    target[3] = -100
    weight = 100 / torch.tensor(COUNTS, dtype=torch.float64)
    if given is not None:
        weight = weight * torch.tensor(given)
    kept = target >= 0
    average = weight[target[kept]].mean()
    plain = F.cross_entropy(logits, target, reduction="none") * weight[target.clamp_min(0)]
    expected = {"none": plain / average, "sum": plain.sum() / average}
    expected["mean"] = plain[kept].mean() / average
    for reduction, value in expected.items():
        criterion = it.ReweightedLoss(
            COUNTS, weight=given, reduction=reduction, dtype=torch.float64
        )
        torch.testing.assert_close(criterion(logits, target), value)
    soft = F.one_hot(target.clamp_min(0), 3).double()
    for reduction in expected:
        criterion = it.ReweightedLoss(COUNTS, reduction=reduction, dtype=torch.float64)
        found = criterion(logits, soft)
        torch.testing.assert_close(found, criterion(logits, target.clamp_min(0)))


def test_on_balanced_data_it_is_cross_entropy():
    logits, target = torch.randn(9, 3), torch.arange(9) % 3
    expected = F.cross_entropy(logits, target)
    torch.testing.assert_close(it.ReweightedLoss([5, 5, 5])(logits, target), expected)
    as_it_is = it.ReweightedLoss([5, 5, 5], normalize=None)(logits, target)
    assert as_it_is > 0
    with pytest.raises(ValueError, match="normalize must be"):
        it.ReweightedLoss(COUNTS, normalize="epoch")
