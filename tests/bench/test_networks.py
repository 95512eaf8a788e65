"""Networks for small images."""

import pytest
import torch

from immax.bench.networks import make_network


@pytest.mark.parametrize(
    ("name", "parameters"),
    # Those of He et al. for CIFAR, and of ResNet-18 and -34 with ten classes and a 3×3 stem.
    [
        ("resnet20", 269_722),
        ("resnet32", 464_154),
        ("resnet18", 11_173_962),
        ("resnet34", 21_282_122),
    ],
)
def test_networks_have_the_sizes_that_are_known(name, parameters):
    network = make_network(name, (3, 32, 32), 10)
    assert sum(p.numel() for p in network.parameters()) == parameters


@pytest.mark.parametrize("name", ["resnet8", "mlp", "softmax"])
def test_networks_take_other_shapes(name):
    assert make_network(name, (1, 28, 28), 7)(torch.zeros(2, 1, 28, 28)).shape == (2, 7)


def test_an_unknown_network_is_an_error():
    with pytest.raises(ValueError, match="there is no network 'resnet9'"):
        make_network("resnet9", (3, 8, 8), 2)
