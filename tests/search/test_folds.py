"""Folds of a search."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import KFold, StratifiedKFold

from immax import IMMAXSVCCV, IMMAXClassifierCV
from immax.search.folds import make_folds

SMALL = {"n_margins": 4, "lams": [1e-3, 1e-1]}
Y = np.repeat([0, 1, 2], [40, 15, 5])
X = np.zeros((60, 2))
ONES = np.ones(60)


def test_a_number_is_that_many_stratified_folds():
    folds = make_folds(3, X, Y, ONES, 7)
    expected = StratifiedKFold(3, shuffle=True, random_state=7).split(X, Y)
    for fold, (train, test) in zip(folds, expected, strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.tests, [test])


def test_no_seed_is_a_fixed_seed():
    for first, again in zip(
        make_folds(3, X, Y, ONES, None), make_folds(3, X, Y, ONES, 0), strict=True
    ):
        np.testing.assert_array_equal(first.train, again.train)


def test_leave_one_out_is_one_fold_of_all_samples_in_groups():
    (fold,) = make_folds("loo", X, Y, ONES, None)
    np.testing.assert_array_equal(fold.train, np.arange(60))
    assert len(fold.tests) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate(fold.tests)), np.arange(60))


def test_splitters_and_pairs_are_taken_as_they_are():
    pairs = [(np.arange(60), np.arange(3)), (np.arange(60), np.arange(3, 6))]
    folds = make_folds(pairs, X, Y, ONES, None)
    np.testing.assert_array_equal(folds[1].tests[0], [3, 4, 5])
    shuffled = make_folds(KFold(2, shuffle=True, random_state=0), X, Y, ONES, None)
    assert len(shuffled) == 2


def test_parts_are_lists_masks_and_indices_from_the_end():
    X, y = np.zeros((6, 1)), np.arange(6) % 2
    expected = make_folds([(np.arange(4), np.array([4, 5]))], X, y, np.ones(6), None)
    mask = np.arange(6) < 4
    for train, test in [([0, 1, 2, 3], [4, 5]), (mask, ~mask), (np.arange(-6, -2), [-2, -1])]:
        ((own, (held_out,)),) = make_folds([(train, test)], X, y, np.ones(6), None)
        np.testing.assert_array_equal(own, expected[0].train)
        np.testing.assert_array_equal(held_out, expected[0].tests[0])
    for test, message in [
        ([6], "the index 6, and there are 6 samples"),
        ([-7], "the index -7"),
        ([0.0, 1.0], "indices of samples.*float64"),
        (mask[:4], r"masks of shape \(6,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_folds([(mask, test)], X, y, np.ones(6), None)


@pytest.mark.parametrize("kind", [IMMAXClassifierCV, IMMAXSVCCV])
def test_a_search_takes_lists_and_masks_of_rows(kind):
    X, y = load_iris(return_X_y=True)
    folds = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
    penalty = {"lams" if kind is IMMAXClassifierCV else "Cs": [0.1]}
    scores = [
        kind(n_margins=2, cv=cv, **penalty).fit(X, y).cv_results_["mean_test_score"]
        for cv in (
            folds,
            [(train.tolist(), test.tolist()) for train, test in folds],
            [tuple(np.isin(np.arange(150), part) for part in fold) for fold in folds],
        )
    ]
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])


def test_samples_without_weight_do_not_represent_their_class():
    everything = [(np.arange(60), np.arange(3))]
    weight = ONES.copy()
    weight[-4:] = 0
    assert len(make_folds(everything, X, Y, weight, None)) == 1
    with pytest.raises(ValueError, match="the class 2 has one"):
        make_folds(5, X, Y, weight, None)
    weight[-5] = 0
    with pytest.raises(ValueError, match=r"fold 0 has no sample of the classes \[2\]"):
        make_folds(everything, X, Y, weight, None)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "at least two folds; got 1"),
        ("lou", "or 'loo'; got 'lou'"),
        ([], "no folds"),
        ([(np.arange(50), np.arange(50, 60))], r"fold 0 has no sample of the classes \[2\]"),
        ([(np.arange(60), np.arange(0))], "test part of fold 0 is empty"),
    ],
)
def test_what_is_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        make_folds(cv, X, Y, ONES, None)


def test_fewer_samples_than_folds():
    X, y = make_classification(60, 4, random_state=0)
    y = np.zeros(60, dtype=int)
    y[:3] = 1
    with pytest.warns(UserWarning, match="3 folds are used instead of 5"):
        model = IMMAXClassifierCV(**SMALL).fit(X, y)
    assert model.n_splits_ == 3
    y[:2] = 0
    with pytest.raises(ValueError, match="has one"):
        IMMAXClassifierCV(**SMALL).fit(X, y)


def test_folds_that_miss_a_class():
    X, y = make_classification(500, 8, weights=[0.85], random_state=0)
    order = np.argsort(y)
    with pytest.raises(ValueError, match=r"training part of fold \d has no sample of the classes"):
        IMMAXClassifierCV(**SMALL, cv=KFold(2)).fit(X[order], np.sort(y))
    with pytest.raises(ValueError, match="no folds"):
        IMMAXClassifierCV(**SMALL, cv=[]).fit(X, y)
