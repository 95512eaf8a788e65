"""Class weights, divisors and reductions of a call."""

import pytest
import torch

from immax.torch.call import Call, class_values
from immax.torch.table import Table

TARGET = torch.tensor([0, 2, -100, 1, 2])
INDICES = TARGET.clamp_min(0)
WEIGHT = torch.tensor([1.0, 2.0, 4.0])


def test_class_values_have_the_shape_of_the_labels():
    column = torch.tensor([1.0, 2.0, 3.0])
    assert class_values(column, INDICES).tolist() == [1, 3, 1, 2, 3]
    assert class_values(column, INDICES.view(5, 1)).shape == (5, 1)


def test_divisors_have_the_callers_weights_only():
    table = Table(weight=torch.tensor([10.0, 20.0, 30.0]))
    assert Call(TARGET, INDICES, table).divisor() == 4
    assert Call(TARGET, INDICES, table, weight=WEIGHT).divisor() == 1 + 4 + 2 + 4


@pytest.mark.parametrize("own", [None, torch.tensor([3.0, 5.0, 7.0])])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_reductions(own, weight):
    losses = torch.tensor([1.0, 2.0, 0.0, 3.0, 4.0])
    factor = (own if own is not None else 1) * (weight if weight is not None else torch.ones(3))
    expected = losses * factor[INDICES]
    for reduction, value in (
        ("none", expected),
        ("sum", expected.sum()),
        ("mean", expected.sum() / (4 if weight is None else 11)),
    ):
        call = Call(TARGET, INDICES, Table(weight=own), None, weight, reduction=reduction)
        torch.testing.assert_close(call.reduced(losses), value)


def test_some_rows():
    drop = torch.tensor([True, False, True, False, True])
    part = Call(TARGET, INDICES, Table(), drop).rows(slice(1, 3))
    assert part.target.tolist() == [2, -100]
    assert part.indices.tolist() == [2, 0]
    assert part.drop.tolist() == [False, True]


def test_a_call_is_restored_as_it_was_saved():
    class Keeper:
        def save_for_backward(self, *tensors):
            self.saved_tensors = tensors

    table = Table(offset=torch.ones(3), focus=0.5, drop_rate=0.25)
    call = Call(TARGET, INDICES, table, None, WEIGHT, -100, "sum")
    keeper, logits = Keeper(), torch.zeros(5, 3)
    call.save(keeper, logits, None)
    inputs, restored = Call.restored(keeper)
    assert inputs[0] is logits
    assert inputs[1] is None
    assert len(inputs) == 2
    for found, expected in zip(restored, call, strict=True):
        assert found is expected or found == expected
