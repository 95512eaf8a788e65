"""Subsamples with imbalanced classes."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from immax.datasets import class_shares, keep_shares, long_tailed, step_imbalanced, subset


def sizes(y, keep):
    return np.unique(np.asarray(y)[keep], return_counts=True)[1].tolist()


def test_exponential_profile():
    y = np.random.default_rng(0).permutation(np.repeat(list("abcde"), 1000))
    keep = long_tailed(y, 100, random_state=0)
    np.testing.assert_array_equal(sizes(y, keep), np.round(1000 * 100 ** (-np.arange(5) / 4)))
    assert (np.diff(keep) > 0).all()
    np.testing.assert_array_equal(keep, long_tailed(y, 100, random_state=0))
    np.testing.assert_array_equal(keep, long_tailed(y, 100, 0))
    assert not np.array_equal(keep, long_tailed(y, 100, random_state=1))


def test_every_class_keeps_a_sample():
    y = np.repeat([0, 1, 2], 4)
    assert np.bincount(y[long_tailed(y, 1e6)]).min() == 1
    np.testing.assert_array_equal(long_tailed(y, 1), np.arange(12))


def test_order_says_which_classes_are_rare():
    y = np.repeat(list("abc"), 100)
    assert sizes(y, long_tailed(y, 100, order=["b", "c", "a"])) == [1, 100, 10]
    assert sizes(y, step_imbalanced(y, 10, 0.3, order="cab")) == [100, 10, 100]


@pytest.mark.parametrize(
    ("minority", "rare"), [(0.5, 5), (0.01, 1), (0.99, 9), (0.34, 3), (0.2, 2)]
)
def test_step_profile(minority, rare):
    y = np.repeat(np.arange(10), 100)
    assert sizes(y, step_imbalanced(y, 20, minority)) == [100] * (10 - rare) + [5] * rare


def test_shares():
    assert class_shares(3, "none", 100).tolist() == [1, 1, 1]
    np.testing.assert_allclose(class_shares(5, "long_tailed", 16), [1, 0.5, 0.25, 0.125, 0.0625])
    assert class_shares(2, "step", 4).tolist() == [1, 0.25]


@pytest.mark.parametrize("kind", ["long_tailed", "step"])
def test_the_same_shares_reduce_training_and_test_set_alike(kind):
    shares = class_shares(10, kind, 100)
    train, test = np.repeat(np.arange(10), 5000), np.tile(np.arange(10), 1000)
    kept = [np.array(sizes(y, keep_shares(y, shares, random_state=0))) for y in (train, test)]
    np.testing.assert_allclose(kept[0] / 5000, shares, atol=0.5 / 5000)
    np.testing.assert_allclose(kept[1] / 1000, shares, atol=0.5 / 1000)
    assert kept[0][-1] == 50
    assert kept[1][-1] == 10


def test_long_tail_of_uneven_classes_starts_from_the_smallest():
    y = np.repeat([0, 1, 2], [300, 100, 200])
    assert sizes(y, long_tailed(y, 100)) == [100, 10, 1]


def test_any_array_of_labels():
    pandas = pytest.importorskip("pandas")
    torch = pytest.importorskip("torch")
    numbers = np.repeat([0, 1, 2], 50)
    expected = long_tailed(numbers, 10, random_state=0)
    for y in (
        numbers.tolist(),
        [f"class {k}" for k in numbers],
        pandas.Series(numbers, index=np.arange(150)[::-1] * 7),
        pandas.Series(numbers).map({0: "a", 1: "b", 2: "c"}),
        pandas.Series(numbers).astype("category"),
        torch.tensor(numbers),
        torch.tensor(numbers, dtype=torch.float32, requires_grad=True),
        numbers.astype(object),
    ):
        np.testing.assert_array_equal(long_tailed(y, 10, random_state=0), expected)
    order = torch.tensor([2, 1, 0])
    assert sizes(numbers, long_tailed(torch.tensor(numbers), 50, order=order)) == [1, 7, 50]


@pytest.mark.parametrize("make", [long_tailed, step_imbalanced])
@pytest.mark.parametrize(
    ("y", "ratio", "message"),
    [
        ([0, 1], 0.5, "ratio must be a finite number of at least 1"),
        ([0, 1], np.nan, "ratio must be"),
        ([0, 1], np.inf, "ratio must be"),
        ([0, 0], 10, "at least two classes"),
        ([], 10, "not empty"),
        ([[0, 1]], 10, "1-D array"),
        ([0.0, 1.0, np.nan], 10, "1 are missing"),
        (np.array(["a", None, "b", None], dtype=object), 10, "2 are missing"),
    ],
)
def test_bad_input(make, y, ratio, message):
    with pytest.raises(ValueError, match=message):
        make(y, ratio)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [0, 1, 2, 2], ["0", "1", "2"]])
def test_order_must_name_every_class_once(order):
    with pytest.raises(ValueError, match=r"order must name each of the classes \[0, 1, 2\] once"):
        long_tailed([0, 1, 2], 10, order=order)


@pytest.mark.parametrize("minority", [0, 1, -0.5, np.nan])
def test_minority_must_lie_between(minority):
    with pytest.raises(ValueError, match="minority must be a number between 0 and 1"):
        step_imbalanced([0, 1], 10, minority)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([1.0, 0.5, 0.1], "one number for each of the 2 classes"),
        ([1.0, 0.0], r"lie in \(0, 1\]"),
        ([1.5, 1.0], r"lie in \(0, 1\]"),
        ([np.nan, 1.0], r"lie in \(0, 1\]"),
    ],
)
def test_bad_shares(shares, message):
    with pytest.raises(ValueError, match=message):
        keep_shares([0, 1], shares)


def test_bad_kind_and_number_of_classes():
    with pytest.raises(ValueError, match="kind must be one of 'long_tailed', 'step', 'none'"):
        class_shares(3, "exponential", 10)
    with pytest.raises(ValueError, match="n_classes must be a whole number of at least 2; got 1"):
        class_shares(1, "step", 10)


class Pair(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def test_subset_of_arrays():
    X, y = np.arange(12).reshape(6, 2), np.array(list("abcdef"))
    keep = [4, 0]
    np.testing.assert_array_equal(subset(X, keep), X[keep])
    pair = subset(Pair(X, y), keep)
    assert isinstance(pair, Pair)
    assert pair.y.tolist() == ["e", "a"]
    assert isinstance(subset([X, y], keep), list)
    for form in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array):
        np.testing.assert_array_equal(subset(form(X), keep).toarray(), X[keep])
    assert subset(X, []).shape == (0, 2)


def test_subset_of_a_table():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": list("xyz")}, index=[9, 5, 5])
    X, y = subset((frame, frame["b"]), np.array([2, 0]))
    assert X["a"].tolist() == [3, 1]
    assert y.tolist() == ["z", "x"]
    assert y.index.tolist() == [5, 9]


def test_subset_of_a_torch_dataset_carries_its_targets():
    torch = pytest.importorskip("torch")

    class Dataset(torch.utils.data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return i * 10

    data = Dataset()
    assert not hasattr(subset(data, [1]), "targets")
    data.labels = torch.arange(6)
    part = subset(data, [5, 1])
    assert [part[i] for i in range(len(part))] == [50, 10]
    assert isinstance(part.targets, np.ndarray)
    assert part.targets.tolist() == [5, 1]
    data.targets = list("abcdef")
    assert subset(subset(data, [5, 1]), [1]).targets.tolist() == ["b"]
    assert subset(torch.arange(6), [5, 1]).tolist() == [5, 1]


def test_subset_refuses_what_it_cannot_index():
    with pytest.raises(TypeError, match=r"data must be a DataFrame.*; got int"):
        subset([1, 2, 3], [0])
    with pytest.raises(ValueError, match="indices must be a 1-D array of whole numbers; got bool"):
        subset(np.eye(2), [True, False])
    with pytest.raises(ValueError, match="whole numbers; got float64"):
        subset(np.eye(2), [0.0])
