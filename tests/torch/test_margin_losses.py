"""The IMMAX modules: cross-entropy for equal margins, probabilities and predictions."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_cases import COUNTS

import immax.torch as it

C = COUNTS.size


@pytest.mark.parametrize("rows", [8, 40_000])
def test_equal_counts_are_cross_entropy_to_the_last_bit(rows):
    logits = torch.randn(rows, 7)
    target = torch.randint(0, 7, (rows,))
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    found, expected = it.IMMAXLoss([123] * 7)(ours, target), F.cross_entropy(theirs, target)
    found.backward()
    expected.backward()
    assert found == expected
    assert torch.equal(ours.grad, theirs.grad)
    moved = it.IMMAXLoss([123] * 7).double()
    assert moved(logits.double(), target) == F.cross_entropy(logits.double(), target)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_probabilities_and_predictions(loss):
    criterion = (it.IMMAXLoss if loss == "logistic" else it.IMMAXExponentialLoss)(COUNTS)
    logits = torch.zeros(4, C)
    p = criterion.proba(logits)
    torch.testing.assert_close(p.sum(1), torch.ones(4))
    # Equal scores: chances as the margins are.
    torch.testing.assert_close(p[0], criterion.rho / criterion.rho.sum())
    assert criterion.predict(logits).tolist() == [C - 1] * 4  # a tie goes to the highest
    assert criterion.predict(logits, rule="bayes").tolist() == [0] * 4
    costs = [1.0, 1, 1, 1, 1000]
    assert criterion.predict(logits, rule="bayes", costs=costs).tolist() == [C - 1] * 4
    assert criterion.predict(logits[0]).item() == C - 1
    assert criterion.predict(logits[0], rule="bayes").item() == 0
    assert criterion.proba(torch.zeros(2, C, 3, 3)).shape == (2, C, 3, 3)
    with pytest.raises(ValueError, match="rule must be"):
        criterion.predict(logits, rule="best")
    with pytest.raises(ValueError, match="rule must be"):
        criterion.predict(logits, costs=costs)


def test_the_max_form_has_no_probabilities():
    logistic = it.IMMAXLoss([5, 2], form="max")
    with pytest.raises(ValueError, match="calibrate"):
        logistic.proba(torch.zeros(1, 2))
    with pytest.raises(ValueError, match="form must be"):
        it.IMMAXLoss([5, 2], form="mean")
    with pytest.raises(ValueError, match="label_smoothing is for the sum form"):
        it.IMMAXLoss([5, 2], form="max", label_smoothing=0.1)
    with pytest.raises(ValueError, match="rule must be 'score'"):
        it.IMMAXHingeLoss([5, 2]).predict(torch.zeros(1, 2), "bayes")
    with pytest.raises(ValueError, match="max form"):
        it.IMMAXExponentialLoss(COUNTS, form="max").proba(torch.zeros(1, C))
    with pytest.raises(ValueError, match="form must be"):
        it.IMMAXExponentialLoss(COUNTS, form="min")
    assert not hasattr(it.IMMAXHingeLoss(COUNTS), "proba")


def test_a_training_loop_changes_in_one_line():
    model = nn.Linear(4, 3)
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    for criterion in (nn.CrossEntropyLoss(), it.IMMAXLoss([10, 4, 2])):
        criterion(model(x), y).backward()


def test_a_label_or_a_number_of_classes_that_is_wrong_is_named():
    criterion = it.IMMAXLoss([10, 10, 10])
    with pytest.raises(ValueError, match=r"rho must have shape \(5,\)"):
        criterion(torch.zeros(2, 5), torch.zeros(2).long())
    with pytest.raises(IndexError, match=r"target holds 3.*0 to 2"):
        criterion(torch.zeros(2, 3), torch.tensor([0, 3]))
