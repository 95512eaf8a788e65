"""The folds of a protocol, and the estimators that it makes."""

import numpy as np
import pytest

from immax.compare.judge import make_judge
from immax.compare.protocol import LAMS, POWERS, Protocol, make_candidate
from immax.errors import WrongCall
from immax.evaluation.metrics import METRICS


def test_every_row_is_tested_once_in_each_repeat():
    codes = np.repeat([0, 1], [200, 40])
    splits = Protocol(folds=4, repeats=2).splits(codes)
    assert len(splits) == 8
    for repeat in (splits[:4], splits[4:]):
        assert sorted(np.concatenate([split.test for split in repeat])) == list(range(240))
    for split in splits:
        assert not set(split.train) & set(split.test)
        assert len(split.train) + len(split.test) == 240
        assert np.bincount(codes[split.test]).tolist() == [50, 10]


def test_repeats_and_seeds_give_other_folds():
    codes = np.repeat([0, 1], [60, 12])
    first, second = (
        np.sort(split.test).tolist() for split in Protocol(folds=3, repeats=2).splits(codes)[::3]
    )
    assert first != second
    other = Protocol(folds=3, seed=1).splits(codes)[0].test
    assert np.sort(other).tolist() == second  # the seeds of repeats follow each other


def test_a_class_may_have_fewer_rows_than_there_are_folds():
    codes = np.repeat([0, 1], [30, 3])
    assert len(Protocol(folds=5).splits(codes)) == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "macro_f2"}, "did you mean 'macro_f1'"),
        ({"folds": 1}, "at least 2 folds"),
        ({"repeats": 0}, "1 repeat"),
    ],
)
def test_impossible_protocols_are_refused(settings, message):
    with pytest.raises(WrongCall, match=message):
        Protocol(**settings)


@pytest.mark.parametrize("metric", METRICS)
def test_hyper_parameters_are_selected_for_the_metric(metric):
    y = np.repeat([0, 1], [40, 20])
    protocol = Protocol(metric)
    judge = make_judge(protocol, np.arange(2), np.bincount(y))
    search = make_candidate("ce", y, protocol, judge)
    margins = make_candidate("immax", y, protocol, judge)
    if judge.aim is None:
        assert search.scoring == METRICS[metric].scorer
    else:
        assert search.judge is judge
        search, margins = search.search, margins.search
    assert search.param_grid["lam"] == list(LAMS)
    assert tuple(margins.family.values) == POWERS


def test_a_tuned_threshold_has_decisions_of_its_own():
    y = np.repeat([0, 1], [40, 20])
    protocol = Protocol("gmean")
    judge = make_judge(protocol, np.arange(2), np.bincount(y))
    model = make_candidate("threshold", y, protocol, judge).fit(np.arange(60.0)[:, None], y)
    assert (model.predict(np.arange(60.0)[:, None]) == y).mean() > 0.9
