"""Means over several processes."""

import process_cases as cases
import pytest
import torch

import immax.torch as it
from immax.torch.processes import group_size, process_group


@pytest.fixture
def means(ranks):
    return [rank["means"] for rank in ranks]


@pytest.mark.parametrize("name", list(cases.losses(None)))
def test_the_averaged_gradient_is_that_of_one_process(means, name):
    value, gradient = cases.alone()[name]
    torch.testing.assert_close(sum(rank[name][0] for rank in means) / 2, value)
    found = torch.cat([rank[name][1] for rank in means]) / 2
    torch.testing.assert_close(found, gradient)


def test_the_mean_of_local_means_is_another():
    local = [cases.losses(None)["immax"](cases.logits()[rows], rows) for rows in cases.PARTS]
    value, _ = cases.alone()["immax"]
    assert abs(sum(local) / 2 - value) > 0.01


def test_counts_are_added(means):
    counted = it.class_counts(cases.LABELS, ignore_index=-100).tolist()
    for _, counts, _ in (rank["counts"] for rank in means):
        assert counts.tolist() == counted
    assert means[1]["counts"][0].tolist() == [1, 1]  # without class 2


def test_without_processes():
    assert process_group(None) is None
    assert group_size(None) == 1
    with pytest.raises(RuntimeError, match="init_process_group"):
        it.IMMAXLoss([2, 1], group="world")(torch.zeros(1, 2), torch.tensor([0]))
