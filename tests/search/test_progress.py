"""The fits of folds: the lines that a search prints, and the cache."""

import re

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone
from sklearn.datasets import load_iris

from immax import IMMAXClassifierCV
from immax.search.svc import IMMAXSVCCV

X, Y = load_iris(return_X_y=True)
LINE = re.compile(r"margins 1 to (\d+), fold (\d) of 3: (\d+) fits in \d+\.\d s")


@pytest.mark.parametrize(
    "search",
    [
        IMMAXClassifierCV(n_margins=2, lams=[0.01, 0.1], cv=3, verbose=1),
        IMMAXSVCCV(n_margins=1, Cs=[1.0], cv=3, verbose=1),
    ],
)
def test_a_line_for_every_fold(search, capfd):
    search.fit(X, Y)
    found = LINE.findall(capfd.readouterr().out)
    assert [int(fold) for _, fold, _ in found] == [1, 2, 3]
    n_cells = len(np.unique(search.cv_results_[f"param_{search._penalty_name}"]))
    assert all(int(fits) == int(points) * n_cells for points, _, fits in found)


def test_processes_print_their_own_lines(capfd):
    get_reusable_executor().shutdown(wait=True)  # processes of other tests print elsewhere
    IMMAXClassifierCV(n_margins=2, lams=[0.1], cv=3, verbose=1, n_jobs=2).fit(X, Y)
    found = LINE.findall(capfd.readouterr().out)
    assert sorted(int(fold) for _, fold, _ in found) == [1, 2, 3]


def test_nothing_is_printed_by_default(capfd):
    IMMAXClassifierCV(n_margins=2, lams=[0.1], cv=3).fit(X, Y)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("search", "fit"),
    [
        (IMMAXClassifierCV(n_margins=2, lams=[0.1], cv=3), "immax.search.cells.linear_path"),
        (IMMAXSVCCV(n_margins=2, Cs=[1.0], cv=3), "immax.search.svc.MachineCells.run"),
    ],
)
def test_another_aim_takes_the_fits_from_the_cache(search, fit, tmp_path, monkeypatch):
    alone = clone(search).set_params(aim="f1_macro").fit(X, Y)
    search = clone(search).set_params(memory=str(tmp_path))
    search.fit(X, Y, sample_weight=np.ones(len(Y)))  # weights are part of what is looked up
    clone(search).set_params(aim="balanced_accuracy").fit(X, Y)

    def refuse(*_):
        raise AssertionError("a fold is fitted again")

    monkeypatch.setattr(fit, refuse)
    cached = clone(search).set_params(aim="f1_macro").fit(X, Y)
    np.testing.assert_array_equal(cached.predict_proba(X), alone.predict_proba(X))
    assert cached.best_score_ == alone.best_score_
    with pytest.raises(AssertionError, match="fitted again"):
        clone(search).set_params(aim="f1_macro").fit(2 * X, Y)
