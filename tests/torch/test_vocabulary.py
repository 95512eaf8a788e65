"""Logits whose classes are spread over two processes."""

import process_cases as cases
import pytest
import torch

import immax.torch as it
from immax.torch.functional import immax_loss


@pytest.fixture
def shards(ranks):
    return [rank["shards"] for rank in ranks]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_and_gradients_are_those_of_one_process(shards, reduction, weighted):
    h, labels, rho, weight = cases.vocabulary()
    h.requires_grad_()
    expected = immax_loss(h, labels, rho, weight if weighted else None, reduction=reduction)
    expected.sum().backward()
    name = f"{'weighted' if weighted else 'plain'} {reduction}"
    for rank in shards:
        torch.testing.assert_close(rank[name][0], expected.detach())
    found = torch.cat([rank[name][1] for rank in shards], 1)
    torch.testing.assert_close(found, h.grad)


def test_unequal_numbers_of_classes(shards):
    h, labels, rho, _ = cases.vocabulary()
    for rank in shards:
        torch.testing.assert_close(rank["uneven"][0], immax_loss(h, labels, rho))


def test_distributed_tensors(shards):
    if shards[0]["dtensor"] is None:
        pytest.skip("DTensor is public since PyTorch 2.5")
    h, labels, rho, _ = cases.vocabulary()
    h.requires_grad_()
    expected = immax_loss(h, labels, rho)
    expected.backward()
    for rank in shards:
        torch.testing.assert_close(rank["dtensor"][0], expected.detach())
    found = torch.cat([rank["dtensor"][1] for rank in shards], 1)
    torch.testing.assert_close(found, h.grad)


def test_bad_arguments_are_named():
    h, labels, rho, _ = cases.vocabulary()
    with pytest.raises(RuntimeError, match="init_process_group"):
        it.vocab_parallel_immax_loss(h, labels, rho)
    with pytest.raises(ValueError, match="target must have shape"):
        it.vocab_parallel_immax_loss(h, labels[:2], rho)
    with pytest.raises(ValueError, match="reduction must be"):
        it.vocab_parallel_immax_loss(h, labels, rho, reduction="average")
