"""Class counts: given, from labels, or from data; never guessed."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import immax.torch as it
from immax.torch.counts import counts_of

DATA = TensorDataset(torch.zeros(5, 2), torch.tensor([0, 0, 2, 1, 0]))


def test_class_counts():
    labels = torch.tensor([0, 0, 2, 1, 0])
    for source in (labels, labels.tolist(), labels.numpy(), DATA, DataLoader(DATA)):
        assert it.class_counts(source).tolist() == [3, 1, 1]
    assert it.class_counts(labels, num_classes=4).tolist() == [3, 1, 1, 0]
    assert it.class_counts([0, -100, 1], ignore_index=-100).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "non-empty"),
        ([[0, 1]], "one-dimensional"),
        ([0.5, 1.0], "class numbers"),
        ([0, -1], "negative"),
        (["cat", "dog"], "class numbers"),
    ],
)
def test_bad_labels_are_refused(source, message):
    with pytest.raises(ValueError, match=message):
        it.class_counts(source)
    with pytest.raises(ValueError, match="labels go up to 3"):
        it.class_counts([0, 3], num_classes=2)


def test_three_ways_to_say_it():
    expected = it.IMMAXLoss(counts=[3, 1, 1]).rho
    for options in (
        {"labels": [0, 0, 2, 1, 0]},
        {"labels": torch.tensor([0, 0, 2, -100, 1, 0])},  # ignored labels do not count
        {"dataset": DATA},
        {"dataset": DataLoader(DATA, shuffle=True)},
        {"counts": {2: 1, 0: 3, 1: 1}},
    ):
        assert torch.equal(it.IMMAXLoss(**options).rho, expected)
        assert it.LDAMLoss(**options).counts == (3.0, 1.0, 1.0)
    assert it.IMMAXBinaryLoss(labels=[0, 0, 1]).counts == (2.0, 1.0)
    schedule = it.DeferredReweighting(it.CrossEntropyLoss(), None, 0, dataset=DATA)
    schedule.step()
    assert schedule.loss.class_weight.shape == (3,)


def test_counts_of_pandas_go_by_their_labels():
    counts = pd.Series([2, 2, 2, 0, 0, 1]).value_counts()
    assert counts.index.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(counts_of(counts), [2, 1, 3])
    np.testing.assert_array_equal(counts_of(counts, num_classes=4, minimum=1), [2, 1, 3, 1])
    np.testing.assert_array_equal(counts_of(pd.Series([5, 7])), [5, 7])
    with pytest.raises(TypeError, match=r"rho must be in the order of the classes.*\[2, 0, 1\]"):
        it.IMMAXLoss(rho=counts)


@pytest.mark.parametrize("counts", [[2, 0, 1], torch.tensor([2, 0, 1]), {0: 2, 1: 0, 2: 1}])
def test_a_count_of_zero_names_the_class_and_the_way_out(counts):
    for make in (it.IMMAXLoss, it.LDAMLoss, it.BalancedSoftmaxLoss):
        with pytest.raises(ValueError, match=r"class 1 has no samples.*minimum=1.*labels="):
            make(counts)
    with pytest.raises(ValueError, match="class 1 has no samples"):
        it.IMMAXLoss([90, 0, 1])
    with pytest.raises(ValueError, match="class 1 has no samples"):
        it.IMMAXLoss(labels=[0, 2])
    with pytest.raises(ValueError, match="class 2 has no samples"):
        it.IMMAXLoss(labels=[0, 1], num_classes=3)
    assert counts_of(counts, minimum=1).tolist() == [2, 1, 1]
    assert counts_of({0: 5}, num_classes=2, minimum=0.5).tolist() == [5, 0.5]
    assert counts_of([4, 2], num_classes=3, minimum=1).tolist() == [4, 2, 1]


def test_labels_for_counts_are_not_guessed():
    labels = torch.tensor([0] * 9 + [1])
    with pytest.raises(ValueError, match="pass them as labels="):
        it.IMMAXLoss(labels)
    with pytest.warns(FutureWarning, match="pass it as dataset="):
        assert it.IMMAXLoss(DATA).counts == (3.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"counts": [1, 2], "labels": [0, 1]}, ValueError, "only one of counts, labels"),
        ({"labels": DATA}, TypeError, "pass TensorDataset as dataset="),
        ({"dataset": [3, 2]}, TypeError, "counts= takes"),
        ({"counts": {"cat": 3, "dog": 2}}, ValueError, "keys; got 'cat'"),
        ({"counts": {1: 3, 2: 2}}, ValueError, "keys; got 2"),
        ({"counts": 7}, ValueError, "one number per class"),
        ({"counts": ["a", "b"]}, ValueError, "one number per class"),
        ({"counts": [3, -2]}, ValueError, "counts of class 1 is -2"),
        ({"counts": [3, np.nan]}, ValueError, "counts of class 1 is nan"),
        ({"counts": [3, 2, 1], "num_classes": 2}, ValueError, "num_classes is 2"),
        ({"counts": [3, 0], "minimum": 0}, ValueError, "minimum must be"),
        ({}, ValueError, "must be given"),
    ],
)
def test_bad_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        it.IMMAXLoss(**options)


def test_losses_whose_formula_has_no_counts():
    logits, target = torch.randn(4, 7), torch.tensor([0, 1, 2, 6])
    for make in (it.CrossEntropyLoss, it.FocalLoss):
        assert torch.equal(make()(logits, target), make([1] * 7)(logits, target))
        assert torch.equal(make().proba(logits), make([1] * 7).proba(logits))
    assert it.FocalLoss(gamma=2).spec.focus == 2
    with pytest.raises(ValueError, match="counts, labels and dataset must be given"):
        it.LDAMLoss()
