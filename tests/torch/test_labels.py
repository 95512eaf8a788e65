"""The labels of whatever holds them."""

import numpy as np
import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from immax.torch.labels import is_data, labels_of

LABELS = [0, 0, 2, 1, 0]


class Listed(Dataset):
    """A data set with a list of labels under some name, whose samples must not be decoded."""

    def __init__(self, name, values):
        setattr(self, name, values)

    def __len__(self):
        return len(LABELS)

    def __getitem__(self, index):
        raise AssertionError("decoded")


class Samples(Dataset):
    """A data set without a list of labels."""

    def __init__(self, make):
        self.make = make

    def __len__(self):
        return len(LABELS)

    def __getitem__(self, index):
        return self.make(LABELS[index])


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(None, 1)])


class Columns:
    """A table with named columns, as Hugging Face's data sets are."""

    def __init__(self, names):
        self.column_names = names

    def __getitem__(self, name):
        return LABELS


FOLDER = [(f"{k}.png", k) for k in LABELS]
SOURCES = {
    "targets": Listed("targets", LABELS),
    "labels": Listed("labels", torch.tensor(LABELS)),
    "folder": Listed("samples", FOLDER),
    "private": Listed("_labels", np.array(LABELS)),
    "tensors": TensorDataset(torch.zeros(5, 2), torch.tensor(LABELS)),
    "stack": StackDataset(torch.zeros(5, 2), LABELS),
    "named stack": StackDataset(label=LABELS, image=torch.zeros(5, 2)),
    "pairs": Samples(lambda k: (None, k)),
    "tensor pairs": Samples(lambda k: (None, torch.tensor(k))),
    "dicts": Samples(lambda k: {"image": None, "label": k}),
    "columns": Columns(["text", "label"]),
    "loader": DataLoader(Listed("targets", LABELS), batch_size=2, shuffle=True),
    "list": LABELS,
}


@pytest.mark.parametrize("name", list(SOURCES))
def test_labels_of_every_source(name):
    source = SOURCES[name]
    np.testing.assert_array_equal(labels_of(source), LABELS)
    assert is_data(source) == (name != "list")


def test_parts_are_not_decoded():
    data = Listed("samples", FOLDER)
    parts = ConcatDataset([Subset(data, [0, 2]), data])
    np.testing.assert_array_equal(labels_of(parts), [0, 2, *LABELS])
    loader = DataLoader(data, sampler=SubsetRandomSampler([3, 2]))
    np.testing.assert_array_equal(labels_of(loader), [1, 2])
    sampler = torch.utils.data.distributed.DistributedSampler(data, num_replicas=2, rank=0)
    np.testing.assert_array_equal(labels_of(DataLoader(data, sampler=sampler)), LABELS)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Stream(), "can only be iterated over"),
        (DataLoader(Stream()), "can only be iterated over"),
        (
            Samples(lambda k: torch.zeros(3)),
            "sample 0 of Samples is Tensor, without a class number",
        ),
        (Samples(lambda k: {"image": None}), "a dict with the keys image"),
        (Samples(lambda k: (None, "cat")), "without a class number"),
        (Samples(lambda k: (None, torch.zeros(4))), "without a class number"),
        (Columns(["text"]), "none of the columns text"),
        (StackDataset(a=LABELS), "the parts of the StackDataset are called a"),
        ({"a": 1}, "cannot be read from a dict"),
        (
            DataLoader(SOURCES["targets"], sampler=WeightedRandomSampler([1.0] * 5, 5)),
            "draws by WeightedRandomSampler.*dataset=loader.dataset",
        ),
        (
            DataLoader(SOURCES["targets"], sampler=RandomSampler(LABELS, replacement=True)),
            "draws by RandomSampler",
        ),
        (
            DataLoader(
                SOURCES["targets"], batch_sampler=type("Own", (BatchSampler,), {})([0], 1, False)
            ),
            "draws by Own",
        ),
    ],
)
def test_what_has_no_labels_is_refused_in_words(source, message):
    with pytest.raises(TypeError, match=message):
        labels_of(source)


def test_a_data_set_without_length():
    class Endless(Dataset):
        def __getitem__(self, index):
            return None, 0

    with pytest.raises(TypeError, match="no length"):
        labels_of(Endless())


class Wrapper(Dataset):
    """Some samples of another data set, to which everything else is forwarded."""

    def __init__(self, base, rows, relabel=lambda k: k):
        self.base, self.rows, self.relabel = base, rows, relabel

    def __getattr__(self, name):
        return getattr(self.__dict__["base"], name)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        return None, self.relabel(LABELS[row])


class Named(Dataset):
    """A data set that keeps more labels than it has samples."""

    targets = (*LABELS, 2, 2)

    def __len__(self):
        return len(LABELS)

    def __getitem__(self, index):
        return None, LABELS[index]


@pytest.mark.parametrize(("name", "values"), [("targets", LABELS), ("samples", FOLDER)])
def test_the_transform_of_labels_is_applied(name, values):
    data = Listed(name, values)
    data.target_transform = lambda k: torch.tensor(int(k > 0))
    np.testing.assert_array_equal(labels_of(data), [0, 0, 1, 1, 0])
    np.testing.assert_array_equal(labels_of(Subset(data, [2, 0])), [1, 0])
    data.target_transform = float
    with pytest.raises(TypeError, match=r"target_transform of Listed makes 0.0 of label 0"):
        labels_of(data)


def test_labels_that_are_no_class_numbers_are_transformed_by_the_data_set():
    data = Samples(lambda k: (None, k))
    data.targets, data.target_transform = np.eye(3)[LABELS], np.argmax
    np.testing.assert_array_equal(labels_of(data), LABELS)


@pytest.mark.parametrize(("name", "values"), [("targets", LABELS), ("samples", FOLDER)])
def test_labels_of_another_data_set_are_not_taken(name, values):
    base = Listed(name, values)
    np.testing.assert_array_equal(labels_of(Wrapper(base, [2, 3])), [2, 1])
    swapped = Wrapper(base, range(5), lambda k: 2 - k)
    np.testing.assert_array_equal(labels_of(swapped), [2, 2, 0, 1, 2])


def test_a_list_of_another_length_is_not_taken():
    np.testing.assert_array_equal(labels_of(Named()), LABELS)
