"""Means over several processes."""

import process_cases as cases
import pytest
import torch
import torch.multiprocessing

import immax.torch as it
from immax.torch.processes import group_size, process_group


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    torch.multiprocessing.spawn(cases.together, (str(folder),), nprocs=2)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(2)]


@pytest.mark.parametrize("name", list(cases.losses(None)))
def test_the_averaged_gradient_is_that_of_one_process(ranks, name):
    value, gradient = cases.alone()[name]
    torch.testing.assert_close(sum(rank[name][0] for rank in ranks) / 2, value)
    found = torch.cat([rank[name][1] for rank in ranks]) / 2
    torch.testing.assert_close(found, gradient)


def test_the_mean_of_local_means_is_another(ranks):
    local = [cases.losses(None)["immax"](cases.logits()[rows], rows) for rows in cases.PARTS]
    value, _ = cases.alone()["immax"]
    assert abs(sum(local) / 2 - value) > 0.01


def test_counts_are_added(ranks):
    counted = it.class_counts(cases.LABELS, ignore_index=-100).tolist()
    for _, counts, _ in (rank["counts"] for rank in ranks):
        assert counts.tolist() == counted
    assert ranks[1]["counts"][0].tolist() == [1, 1]  # without class 2


def test_without_processes():
    assert process_group(None) is None
    assert group_size(None) == 1
    with pytest.raises(RuntimeError, match="init_process_group"):
        it.IMMAXLoss([2, 1], group="world")(torch.zeros(1, 2), torch.tensor([0]))
