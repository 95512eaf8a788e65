"""Checks of arguments and labels."""

import pytest
import torch

from immax.torch.checks import (
    check_arguments,
    check_class_vector,
    check_classes,
    check_reduction,
    class_indices,
    is_readable,
    is_traced,
)


def test_good_arguments_pass():
    for shape in ((3,), (4, 3), (4, 3, 2), (0, 3)):
        labels = shape[:0] if len(shape) == 1 else shape[:1] + shape[2:]
        check_arguments(torch.zeros(shape), torch.zeros(labels, dtype=torch.long), "mean", 0.1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"target": torch.rand(4)}, TypeError, "target must hold class numbers"),
        ({"target": torch.zeros(5, dtype=torch.long)}, ValueError, r"target must have shape \(4,"),
        ({"target": torch.zeros(4, 3, dtype=torch.long)}, ValueError, "target must have shape"),
        ({"logits": torch.tensor(1.0)}, ValueError, "logits must be floating-point"),
        ({"logits": torch.zeros(4, 3, dtype=torch.long)}, ValueError, "logits must be floating"),
        ({"logits": torch.zeros(4, 3, device="meta")}, ValueError, "target must be on the logits'"),
        ({"reduction": "average"}, ValueError, "reduction must be one of none, mean, sum"),
        ({"label_smoothing": 1.5}, ValueError, "label_smoothing must be from 0 to 1"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    good = {
        "logits": torch.zeros(4, 3),
        "target": torch.zeros(4, dtype=torch.long),
        "reduction": "mean",
        "label_smoothing": 0.0,
    }
    with pytest.raises(error, match=message):
        check_arguments(**(good | change))


def test_reductions_and_classes():
    check_reduction("none")
    with pytest.raises(ValueError, match="got 'max'"):
        check_reduction("max")
    check_classes(torch.zeros(4, 3), 3)
    check_classes(torch.zeros(3), 3)
    with pytest.raises(ValueError, match="logits have 3 classes, the loss has 2"):
        check_classes(torch.zeros(4, 3), 2)


def test_class_vectors():
    logits = torch.zeros(4, 3)
    check_class_vector(torch.ones(3), "rho", logits)
    check_class_vector(torch.ones(2), "rho", logits, 2)
    with pytest.raises(TypeError, match="rho must be a Tensor; got list"):
        check_class_vector([1.0, 1.0, 1.0], "rho", logits)
    with pytest.raises(ValueError, match=r"rho must have shape \(3,\).*got \(2,\)"):
        check_class_vector(torch.ones(2), "rho", logits)
    with pytest.raises(ValueError, match="rho must be on the logits' device, cpu; got meta"):
        check_class_vector(torch.ones(3, device="meta"), "rho", logits)


def test_labels_index_columns():
    target = torch.tensor([0, 2, 1])
    assert class_indices(target, 3, -100) is target
    assert class_indices(target, 3, 1).tolist() == [0, 2, 0]
    assert class_indices(torch.tensor([0, -100, 2]), 3, -100).tolist() == [0, 0, 2]
    assert class_indices(torch.tensor([0, 255, 2]), 3, 255).tolist() == [0, 0, 2]
    assert class_indices(target[:0], 3, -100).shape == (0,)
    strided = torch.tensor([[0, 7], [2, 7]])[:, 0]
    assert class_indices(strided, 3, -100).tolist() == [0, 2]


@pytest.mark.parametrize("bad", [3, -1, 2**62, -(2**62)])
@pytest.mark.parametrize("ignored", [-100, 1])
def test_a_label_out_of_range_is_named(bad, ignored):
    target = torch.tensor([[0, ignored], [bad, 2]])
    message = rf"target holds {bad}, .* 0 to 2, and ignore_index is {ignored}"
    with pytest.raises(IndexError, match=message):
        class_indices(target, 3, ignored)


def test_labels_that_cannot_be_read_are_masked():
    target = torch.zeros(4, dtype=torch.long, device="meta")
    for ignored in (-100, 2):
        assert class_indices(target, 3, ignored).shape == (4,)
    found = torch.func.vmap(lambda y: class_indices(y, 3, -100))(torch.tensor([[0, -100], [1, 2]]))
    assert found.tolist() == [[0, 0], [1, 2]]


def test_what_can_be_read():
    assert is_readable(torch.ones(2))
    assert is_readable(torch.nn.Parameter(torch.ones(2)))
    assert not is_readable(torch.ones(2, device="meta"))
    assert not is_traced()
    seen = []
    torch.func.grad(lambda x: (seen.append((is_traced(), is_readable(x))), x.sum())[1])(
        torch.ones(2)
    )
    assert seen == [(True, False)]
