"""Class counts from tensors, arrays and data sets."""

import pytest
import torch

import immax.torch as it
from immax.torch.counts import as_counts


class Pictures(torch.utils.data.Dataset):
    """A data set whose samples must not be decoded."""

    targets = (0, 0, 2, 1, 0)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        raise AssertionError("decoded")


def test_counts_from_whatever_holds_labels():
    labels = torch.tensor(Pictures.targets)
    subset = torch.utils.data.Subset(Pictures(), [0, 2, 3])
    tensors = torch.utils.data.TensorDataset(torch.zeros(5, 2), labels)
    for source in (Pictures(), labels, Pictures.targets, labels.numpy(), tensors):
        assert it.class_counts(source).tolist() == [3, 1, 1]
    assert it.class_counts(subset).tolist() == [1, 1, 1]
    both = torch.utils.data.ConcatDataset([subset, Pictures()])
    assert it.class_counts(both).tolist() == [4, 2, 2]
    assert it.class_counts(labels, num_classes=4).tolist() == [3, 1, 1, 0]
    assert torch.equal(it.IMMAXLoss(Pictures()).rho, it.IMMAXLoss([3, 1, 1]).rho)
    assert torch.equal(it.IMMAXLoss(labels).rho, it.IMMAXLoss([3, 1, 1]).rho)


def test_labels_are_read_from_the_samples_where_there_is_no_list():
    class Plain(torch.utils.data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return None, Pictures.targets[index]

    assert it.class_counts(Plain()).tolist() == [3, 1, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "non-empty"),
        ([[0, 1]], "one-dimensional"),
        ([0.5, 1.0], "class numbers"),
        ([0, -1], "negative"),
    ],
)
def test_bad_labels_are_refused(source, message):
    with pytest.raises(ValueError, match=message):
        it.class_counts(source)
    with pytest.raises(ValueError, match="labels go up to 3"):
        it.class_counts([0, 3], num_classes=2)


def test_counts_are_told_from_labels():
    assert as_counts([5, 2, 1]).tolist() == [5, 2, 1]
    assert as_counts([0, 1, 1]).tolist() == [1, 2]
    assert as_counts(torch.tensor([0.5, 0.25])).tolist() == [0.5, 0.25]
