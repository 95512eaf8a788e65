"""Logits whose classes are spread over two processes."""

import process_cases as cases
import pytest
import torch
import torch.distributed as dist

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


@pytest.fixture
def one_process(tmp_path):
    """A group of this process alone."""
    if not dist.is_available() or dist.is_initialized():
        pytest.skip("needs a process without a group")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_labels_are_checked(one_process):
    h, labels, rho, _ = cases.vocabulary()
    torch.testing.assert_close(
        it.vocab_parallel_immax_loss(h, labels, rho), immax_loss(h, labels, rho)
    )
    for wrong in (-1, len(rho)):
        held = labels.clamp_min(0)
        held[1] = wrong
        with pytest.raises(IndexError, match=f"target holds {wrong}, which is out of bounds"):
            it.vocab_parallel_immax_loss(h, held, rho)
        ignored = it.vocab_parallel_immax_loss(h, held, rho, ignore_index=wrong)
        torch.testing.assert_close(ignored, immax_loss(h, held, rho, ignore_index=wrong))
    with pytest.raises(TypeError, match=r"class numbers, as int64; got torch.float32"):
        it.vocab_parallel_immax_loss(h, labels.float(), rho)
