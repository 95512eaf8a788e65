"""Features of folds: fitted to the training part, and few of them in memory."""

import gc
import weakref

import numpy as np
from mixed_table import mixed_table

from immax.compare import Protocol, compare, prepared_folds
from immax.compare.prepared_folds import PreparedFolds, prepare_fold
from immax.compare.protocol import Split
from immax.compare.target import encode_target
from immax.tabular import describe_columns


def test_preprocessing_is_fitted_to_the_training_part_only():
    X, _ = mixed_table(100)
    schema = describe_columns(X)
    split = Split(np.arange(60), np.arange(60, 100))
    fold = prepare_fold(X, schema, split)
    np.testing.assert_allclose(fold.train[:, :5].mean(axis=0), 0, atol=1e-12)
    changed = X.copy()
    changed.loc[60:, "b"] += 100
    np.testing.assert_array_equal(prepare_fold(changed, schema, split).train, fold.train)


def test_a_fold_is_prepared_once_while_it_is_in_use():
    X, y = mixed_table(60)
    folds = PreparedFolds(X, describe_columns(X), Protocol(folds=3).splits(encode_target(y).codes))
    first = folds[0]
    assert folds[0] is first
    assert folds[1] is not first
    np.testing.assert_array_equal(folds[0].test, first.test)


def test_at_most_two_prepared_folds_are_in_memory(monkeypatch):
    live = weakref.WeakSet()
    most, made = [], []

    def counted(*arguments):
        fold = prepare_fold(*arguments)
        live.add(fold)
        gc.collect()
        most.append(len(live))
        made.append(1)
        return fold

    monkeypatch.setattr(prepared_folds, "prepare_fold", counted)
    X, y = mixed_table(90)
    comparison = compare(X, y, methods=["ce", "rw"], protocol=Protocol(folds=4), time_limit=600)
    assert comparison.complete == ["logistic", "ce", "rw"]
    assert max(most) <= 2
    assert len(made) == 4
    del comparison
    gc.collect()
    assert not live
