"""Methods on the same folds: what is run, resumed, left out and interrupted."""

import time

import numpy as np
import pandas as pd
import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, answer, compare, finished_folds, fold_fits, running
from immax.compare import protocol as protocol_module
from immax.tabular import describe_columns

QUICK = ["weights", "immax"]


def assert_same_results(first, second):
    assert first.complete == second.complete
    for name in first.complete:
        for a, b in zip(first.fold_results[name], second.fold_results[name], strict=True):
            np.testing.assert_array_equal(a.labels, b.labels)
            np.testing.assert_array_equal(a.proba, b.proba)
            assert a.chosen == b.chosen


def test_finished_folds_are_not_fitted_again(tmp_path, monkeypatch):
    X, y = mixed_table()
    first = compare(X, y, methods=QUICK, keep=tmp_path)
    monkeypatch.setattr(fold_fits, "fit_candidate", None)
    assert_same_results(first, compare(X, y, methods=QUICK, keep=tmp_path))


def test_methods_run_fold_by_fold_with_and_without_a_time_limit():
    X, y = mixed_table(120)
    protocol = Protocol(folds=2)
    free, limited = [], []
    first = compare(X, y, methods=QUICK, protocol=protocol, on_fold=lambda *call: free.append(call))
    second = compare(
        X, y, methods=QUICK, protocol=protocol, time_limit=600,
        on_fold=lambda *call: limited.append(call),
    )  # fmt: skip
    assert_same_results(first, second)
    names = ["logistic", "weights", "immax"]
    for calls in (free, limited):
        assert [call[0] for call in calls[:3]] == names
        assert sorted(call[0] for call in calls[3:6]) == sorted(names)  # the longest first
        assert [call[1:] for call in calls] == [(done, 6) for done in range(7)]
        assert calls[6][0] == ""


def test_other_data_or_another_protocol_is_not_resumed(tmp_path):
    X, y = mixed_table()
    compare(X, y, methods=["weights"], keep=tmp_path)
    changed = X.assign(b=X["b"] + 1)
    for data, protocol in ((changed, Protocol()), (X, Protocol(seed=1))):
        before = set(tmp_path.iterdir())
        compare(data, y, methods=["weights"], keep=tmp_path, protocol=protocol)
        assert len(set(tmp_path.iterdir()) - before) == 1


def test_the_folder_of_a_version_is_found_again(tmp_path, monkeypatch):
    """The hash of a comparison must not change, or finished folds would be lost."""
    monkeypatch.setattr(protocol_module, "__version__", "0.2.0")
    X = pd.DataFrame({"x": np.arange(12.0), "kind": ["a", "b"] * 6})
    compare(X, ["no", "yes", "no"] * 4, methods=[], protocol=Protocol(folds=2), keep=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cd36a3e30deade60"]


def test_folds_do_not_depend_on_the_number_of_repeats(tmp_path, monkeypatch):
    X, y = mixed_table(90)
    first = compare(X, y, methods=[], protocol=Protocol(folds=2), keep=tmp_path)
    fits = []
    fit = fold_fits.fit_candidate
    monkeypatch.setattr(
        fold_fits, "fit_candidate", lambda *arguments: fits.append(1) or fit(*arguments)
    )
    more = compare(X, y, methods=[], protocol=Protocol(folds=2, repeats=2), keep=tmp_path)
    assert len(fits) == 2
    a, b = first.fold_results["logistic"], more.fold_results["logistic"]
    np.testing.assert_array_equal(a[1].labels, b[1].labels)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("answers", "repeats"), [([False], 1), ([True, False], 2), ([True, True], 3)]
)
def test_rows_are_split_again_while_the_answer_is_open(monkeypatch, answers, repeats, n_jobs):
    asked = iter(answers)
    monkeypatch.setattr(finished_folds, "is_open", lambda comparison: next(asked))
    X, y = mixed_table(90)
    protocol = Protocol(folds=2, max_repeats=3)
    found = compare(X, y, methods=["ce"], protocol=protocol, n_jobs=n_jobs)
    assert found.repeats == repeats
    fixed = compare(X, y, methods=["ce"], protocol=Protocol(folds=2, repeats=repeats))
    for name in ("logistic", "ce"):
        for a, b in zip(found.fold_results[name], fixed.fold_results[name], strict=True):
            np.testing.assert_array_equal(a.labels, b.labels)
    split_again = "split" in answer(found).sentence.partition("The rows were")[2]
    assert split_again == (repeats > 1)


def test_no_repeat_begins_that_would_not_be_finished_in_time(monkeypatch):
    monkeypatch.setattr(finished_folds, "is_open", lambda comparison: True)
    fit = fold_fits.fit_candidate

    def slow(*arguments):
        time.sleep(0.4)
        return fit(*arguments)

    monkeypatch.setattr(fold_fits, "fit_candidate", slow)
    protocol = Protocol(folds=2, max_repeats=50)
    X, y = mixed_table(60)
    found = compare(X, y, methods=[], protocol=protocol, time_limit=6.0)
    assert 1 <= found.repeats <= 7
    assert len(found.splits) % 2 == 0
    assert "Only" not in answer(found).sentence


def test_a_damaged_fold_is_fitted_again(tmp_path):
    X, y = mixed_table()
    first = compare(X, y, methods=["weights"], keep=tmp_path)
    path = next(tmp_path.glob("*/weights-2.npz"))
    path.write_bytes(path.read_bytes()[:50])
    assert_same_results(first, compare(X, y, methods=["weights"], keep=tmp_path))


def test_a_method_that_fails_is_left_out_and_the_others_go_on(monkeypatch):
    X, y = mixed_table()
    make = fold_fits.fit_candidate

    def some_fail(name, *arguments):
        if name == "weights":
            raise ValueError("no such luck\nin two lines")
        return make(name, *arguments)

    monkeypatch.setattr(fold_fits, "fit_candidate", some_fail)
    comparison = compare(X, y, methods=["weights", "ce"], protocol=Protocol(folds=2))
    assert comparison.complete == ["logistic", "ce"]
    assert comparison.left_out == {"weights": "failed: no such luck"}
    assert len(answer(comparison).rows) == 2


def test_a_failure_of_the_baseline_is_an_error(monkeypatch):
    def fail(*_):
        raise ValueError("no such luck")

    monkeypatch.setattr(fold_fits, "fit_candidate", fail)
    with pytest.raises(ValueError, match="no such luck"):
        compare(*mixed_table(60), methods=["ce"], protocol=Protocol(folds=2))


def test_an_interruption_keeps_what_is_finished(tmp_path):
    X, y = mixed_table()

    def stop(name, done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(X, y, methods=QUICK, keep=tmp_path, on_fold=stop)
    assert len(list(tmp_path.glob("*/*.npz"))) == 7


def test_a_time_limit_leaves_out_what_is_not_finished(monkeypatch, tmp_path):
    X, y = mixed_table()
    compare(X, y, methods=["weights"], keep=tmp_path)
    monkeypatch.setattr(fold_fits, "fit_candidate", lambda *_: time.sleep(60))
    comparison = compare(X, y, methods=QUICK, time_limit=1, keep=tmp_path)
    assert comparison.complete == ["logistic", "weights"]
    assert comparison.unfinished == {"immax": 0}
    assert comparison.left_out["immax"] == "not finished within the time limit: 0 of 5 folds"
    with pytest.raises(TimeoutError, match="not even plain"):
        compare(X, y, methods=QUICK, time_limit=0)


def test_all_methods_are_compared_on_the_folds_that_all_have_finished(tmp_path, monkeypatch):
    """A slow fit does not decide which methods count: all stop at the same fold."""
    X, y = mixed_table()
    compare(X, y, methods=QUICK, keep=tmp_path)
    for path in [*tmp_path.glob("*/*-3.npz"), *tmp_path.glob("*/*-4.npz")]:
        path.unlink()
    monkeypatch.setattr(fold_fits, "fit_candidate", lambda *_: time.sleep(60))
    comparison = compare(X, y, methods=QUICK, time_limit=1, keep=tmp_path)
    assert comparison.complete == ["logistic", *QUICK]
    assert (len(comparison.splits), comparison.planned_folds) == (3, 5)
    assert not comparison.unfinished
    assert len(comparison.pooled("immax").y) == sum(len(split.test) for split in comparison.splits)


def test_columns_are_described_once(monkeypatch):
    X, y = mixed_table(60)
    schema = describe_columns(X)
    monkeypatch.setattr(running, "describe_columns", None)
    comparison = compare(X, y, methods=[], protocol=Protocol(folds=2), schema=schema)
    assert comparison.schema is schema


def test_the_old_name_of_the_callback_is_deprecated():
    calls = []
    with pytest.warns(FutureWarning, match="on_fold"):
        compare(
            *mixed_table(60), methods=[], protocol=Protocol(folds=2),
            on_piece=lambda *call: calls.append(call),
        )  # fmt: skip
    assert calls[-1] == ("", 2, 2)


def test_a_class_with_four_rows():
    X, y = mixed_table(200)
    y[:4] = "perhaps"
    comparison = compare(X, y, methods=QUICK)
    assert len(comparison.complete) == 3
    for row in answer(comparison).rows:
        assert np.isfinite(list(row.measures.values())).all()


def test_nothing_is_learnt_from_noise():
    """Searches and preprocessing see the training part of a fold only."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(240, 15)))
    X.columns = [f"x{k}" for k in X]
    X["kind"] = rng.choice(list("abcdefghij"), 240)
    y = pd.Series(rng.choice(["common", "rare"], 240, p=[0.7, 0.3]))
    names = ["weights", "threshold", "smote", "immax", "immax_hinge", "immax_svc", "svm"]
    names += ["xgb", "immax_xgb"]
    comparison = compare(X, y, methods=names, protocol=Protocol("balanced_accuracy", folds=3))
    verdict = answer(comparison)
    assert len(verdict.rows) == len(names) + 1
    for row in verdict.rows:
        assert 0.38 < row.measures["balanced_accuracy"] < 0.62, row  # 3.5 standard errors
    assert verdict.recommended == "logistic"
