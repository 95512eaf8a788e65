"""Layers are found by the order of calls, and replaced wherever they are."""

import pytest
import torch
from head_cases import network
from torch import nn

from immax.torch.head_layers import find_layer, layer_names, replace_layer, split_batch


class Backwards(nn.Module):
    """The layer that is called last is defined first."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)
        self.body = nn.Linear(4, 6)

    def forward(self, x):
        return self.head(self.body(x))


def test_the_layer_that_is_called_last():
    model = Backwards()
    name, layer = find_layer(model, "auto", lambda: model(torch.zeros(2, 4)))
    assert name == "head"
    assert layer is model.head
    assert all(not module._forward_pre_hooks for module in model.modules())


def test_layers_by_name_and_by_object():
    model = network()
    assert find_layer(model, "1", lambda: None) == ("1", model[1])
    assert find_layer(model, model[3], lambda: None) == ("3", model[3])
    assert layer_names(model) == {model[0]: "0", model[3]: "3"}


def test_layers_that_do_not_exist():
    model = network()
    with pytest.raises(ValueError, match=r"got 'fc' \(linear layers of the model: '0', '3'\)"):
        find_layer(model, "fc", lambda: None)
    with pytest.raises(ValueError, match="got another module"):
        find_layer(model, nn.Linear(2, 2), lambda: None)
    with pytest.raises(ValueError, match="no linear layer is called"):
        find_layer(nn.ReLU(), "auto", lambda: None)


def test_hooks_are_removed_when_the_network_fails():
    model = network()
    with pytest.raises(RuntimeError):
        find_layer(model, "auto", lambda: model(torch.zeros(2, 99)))
    assert all(not module._forward_pre_hooks for module in model.modules())


def test_batches():
    x, y = torch.zeros(3, 4), torch.tensor([0, 1, 1])
    assert split_batch((x, y)).args == (x,)
    assert split_batch([x, x, y]).args == (x, x)
    named = split_batch({"x": x, "labels": y})
    assert named.kwargs == {"x": x}
    assert torch.equal(named.labels, y)
    assert split_batch((x, y.float()[:, None])).labels.dtype == torch.int64  # of one logit


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (torch.zeros(3), TypeError, "must yield"),
        ((torch.zeros(3),), TypeError, "must yield"),
        ({"x": torch.zeros(3)}, TypeError, "got the keys x"),
        ((torch.zeros(3), torch.tensor([0.5])), ValueError, "one class number per sample"),
        ((torch.zeros(3), torch.zeros(3, 4)), ValueError, r"got shape \(3, 4\)"),
    ],
)
def test_batches_without_labels(batch, error, message):
    with pytest.raises(error, match=message):
        split_batch(batch)


def test_a_layer_with_two_names_is_replaced_under_both():
    model = nn.ModuleDict({"a": network(), "b": nn.Sequential(nn.Identity())})
    old, new = model["a"][3], nn.Linear(6, 3)
    model["b"].append(old)
    replace_layer(model, old, new)
    assert model["a"][3] is new
    assert model["b"][1] is new


def test_a_network_that_is_the_layer():
    layer = nn.Linear(4, 3)
    with pytest.raises(ValueError, match="put it into"):
        replace_layer(layer, layer, nn.Linear(4, 3))
