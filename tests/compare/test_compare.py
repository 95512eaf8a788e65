"""The protocol of a comparison, its answer, and what is kept of it."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import make_classification

import immax.compare.protocol as protocol_module
from immax.compare import (
    CANDIDATES,
    Protocol,
    answer,
    choose_candidates,
    compare,
    refit,
)
from immax.errors import WrongCall
from immax.evaluation.metrics import METRICS
from immax.io import load_model, save_model

QUICK = ["weights", "immax"]


def table(n=240, classes=2, seed=0, names=("no", "yes", "perhaps")):
    X, y = make_classification(
        n,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=classes,
        weights=[0.75] + [0.25 / (classes - 1)] * (classes - 1),
        random_state=seed,
    )
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["colour"] = np.random.default_rng(seed).choice(["red", "green"], n)
    frame.loc[::9, "a"] = np.nan
    return frame, pd.Series(np.array(names)[y])


@pytest.fixture(scope="module")
def found():
    return compare(*table(), methods=QUICK, protocol=Protocol(folds=4, repeats=2))


def test_every_row_is_tested_once_in_each_repeat_by_every_method(found):
    tests = [test for _, test in found.splits]
    assert len(tests) == 8
    for repeat in (tests[:4], tests[4:]):
        assert sorted(np.concatenate(repeat)) == list(range(240))
    for name in found.complete:
        assert [len(piece.labels) for piece in found.pieces[name]] == [len(one) for one in tests]


def test_gains_and_intervals_are_those_of_a_plain_computation(found):
    said = answer(found)
    own = {
        name: [
            np.mean(piece.labels == found.codes[test])
            for piece, (_, test) in zip(found.pieces[name], found.splits, strict=True)
        ]
        for name in found.complete
    }
    for row in said.rows:
        assert row.measures["accuracy"] == pytest.approx(np.mean(own[row.name]))
        if row.name == "logistic":
            continue
        gains = np.subtract(own[row.name], own["logistic"])
        n = len(gains)
        error = np.sqrt(gains.var(ddof=1) * (1 / n + (1 / 4) / (3 / 4)))
        half = stats.t.ppf(0.975, n - 1) * error
        assert (row.gain, row.low, row.high) == pytest.approx(
            (gains.mean(), gains.mean() - half, gains.mean() + half)
        )
    values = [row.measures["accuracy"] for row in said.rows]
    assert values == sorted(values, reverse=True)


def test_a_clear_gain_is_recommended_and_an_unclear_one_is_not():
    rng = np.random.default_rng(0)
    rare = np.arange(1000) % 12 == 0
    X = pd.DataFrame({"a": rng.normal(size=1000) + 1.5 * rare, "b": rng.normal(size=1000)})
    y = pd.Series(np.where(rare, "rare", "common"))
    clear = answer(
        compare(X, y, methods=["weights"], protocol=Protocol(metric="balanced_accuracy"))
    )
    assert clear.recommended == "weights"
    assert "better than plain logistic regression by +" in clear.sentence
    unclear = answer(compare(X, y, methods=["ce"], protocol=Protocol()))
    assert unclear.recommended == "logistic"
    assert re.search("no method is clearly better|no other method has a better", unclear.sentence)


def test_log_loss_counts_downwards(found):
    X, y = table()
    said = answer(compare(X, y, methods=["weights"], protocol=Protocol(metric="log_loss")))
    assert [row.name for row in said.rows] == ["logistic", "weights"]
    assert said.row("weights").gain < 0


def test_finished_folds_are_not_done_again(tmp_path, monkeypatch):
    X, y = table()
    first = compare(X, y, methods=QUICK, keep=tmp_path)
    monkeypatch.setattr(protocol_module, "make_candidate", None)
    second = compare(X, y, methods=QUICK, keep=tmp_path)
    for name in first.complete:
        for a, b in zip(first.pieces[name], second.pieces[name], strict=True):
            np.testing.assert_array_equal(a.labels, b.labels)
            np.testing.assert_array_equal(a.proba, b.proba)
            assert a.chosen == b.chosen


def test_other_data_or_another_protocol_does_not_take_what_was_kept(tmp_path):
    X, y = table()
    compare(X, y, methods=["weights"], keep=tmp_path)
    changed = X.assign(b=X["b"] + 1)
    for data, protocol in ((changed, Protocol()), (X, Protocol(seed=1))):
        before = set(tmp_path.iterdir())
        compare(data, y, methods=["weights"], keep=tmp_path, protocol=protocol)
        assert len(set(tmp_path.iterdir()) - before) == 1


def test_a_damaged_fold_is_done_again(tmp_path):
    X, y = table()
    first = compare(X, y, methods=["weights"], keep=tmp_path)
    path = next(tmp_path.glob("*/weights-2.npz"))
    path.write_bytes(path.read_bytes()[:50])
    again = compare(X, y, methods=["weights"], keep=tmp_path)
    np.testing.assert_array_equal(
        first.pieces["weights"][2].labels, again.pieces["weights"][2].labels
    )


def test_a_method_that_fails_is_left_out_and_the_others_go_on(monkeypatch):
    X, y = table()
    make = protocol_module.make_candidate

    def some_fail(name, *arguments):
        if name == "weights":
            raise ValueError("no such luck\nin two lines")
        return make(name, *arguments)

    monkeypatch.setattr(protocol_module, "make_candidate", some_fail)
    found = compare(X, y, methods=["weights", "ce"], protocol=Protocol(folds=2))
    assert found.complete == ["logistic", "ce"]
    assert found.left_out == {"weights": "failed: no such luck"}
    assert len(answer(found).rows) == 2


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_ranks(metric):
    X, y = table(120)
    said = answer(
        compare(X, y, methods=["weights", "svm"], protocol=Protocol(metric=metric, folds=2))
    )
    sign = METRICS[metric].sign
    values = [sign * row.measures[metric] for row in said.rows]
    assert values == sorted(values, reverse=True)


def test_an_interruption_keeps_what_is_finished(tmp_path):
    X, y = table()

    def stop(name, done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(X, y, methods=QUICK, keep=tmp_path, on_piece=stop)
    assert len(list(tmp_path.glob("*/*.npz"))) == 7


def test_a_time_limit_leaves_out_what_is_not_finished(monkeypatch, tmp_path):
    X, y = table()
    compare(X, y, methods=["weights"], keep=tmp_path)
    monkeypatch.setattr(protocol_module, "make_candidate", lambda *_: time.sleep(60))
    found = compare(X, y, methods=QUICK, time_limit=1, keep=tmp_path)
    assert found.complete == ["logistic", "weights"]
    assert found.left_out["immax"] == "not finished within the time limit"
    with pytest.raises(TimeoutError, match="not even plain"):
        compare(X, y, methods=QUICK, time_limit=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(CANDIDATES))
def test_every_method_runs_and_its_model_is_saved(name, tmp_path):
    pytest.importorskip(CANDIDATES[name].needs or "numpy")
    X, y = table(150)
    found = compare(X, y, methods=[name], protocol=Protocol(folds=2))
    assert name in found.complete
    model = refit(found, name)
    assert set(model.predict(X)) <= {"no", "yes"}
    assert np.mean(model.predict(X) == y) > 0.6
    save_model(model, tmp_path / "model.skops", schema=found.schema, target="y")
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.classes_, ["no", "yes"])
    if CANDIDATES[name].proba:
        np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([False, True]),
        pd.Series([3, 7], dtype="Int64"),
        pd.Series([0.0, 1.0]),
        pd.Series(["a", "b"], dtype="category"),
        pd.to_datetime(pd.Series(["2024-01-01", "2025-01-01"])),
    ],
    ids=["bool", "nullable", "float", "category", "date"],
)
def test_labels_of_every_kind(labels, tmp_path):
    X, y = table(90)
    y = labels.iloc[(y == "yes").astype(int)].reset_index(drop=True)
    found = compare(X, y, methods=[], protocol=Protocol(folds=2))
    model = refit(found, "logistic")
    save_model(model, tmp_path / "model.skops")
    assert set(load_model(tmp_path / "model.skops").model.predict(X)) <= set(found.classes)


def test_a_class_with_four_rows():
    X, y = table(200, names=("no", "yes", "perhaps"))
    y[:4] = "perhaps"
    found = compare(X, y, methods=["weights", "immax"])
    assert len(found.complete) == 3
    for row in answer(found).rows:
        assert np.isfinite(list(row.measures.values())).all()


def test_nothing_is_learnt_from_noise():
    """Searches and preprocessing see the training part of a fold only."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(240, 15)))
    X.columns = [f"x{k}" for k in X]
    X["kind"] = rng.choice(list("abcdefghij"), 240)
    y = pd.Series(rng.choice(["common", "rare"], 240, p=[0.7, 0.3]))
    names = ["weights", "threshold", "smote", "immax", "immax_hinge", "immax_svc", "immax_xgb"]
    found = compare(X, y, methods=names, protocol=Protocol("balanced_accuracy", folds=3))
    said = answer(found)
    assert len(said.rows) == len(names) + 1
    for row in said.rows:
        assert 0.4 < row.measures["balanced_accuracy"] < 0.6, row
        assert row.measures["accuracy"] < 0.77, row
    assert said.recommended == "logistic"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 20, "one class only"),
        (["a"] * 18 + ["b"] * 2, "'b' has fewer"),
        ([f"v{i}" for i in range(120)], "120 different values"),
        ([0.5, 1.5] * 10, "the number 0.5, which is not a class"),
    ],
)
def test_targets_that_are_none(y, message):
    X = pd.DataFrame({"x": np.arange(len(y)) % 7, "z": np.arange(len(y)) % 5})
    with pytest.raises(WrongCall, match=message):
        compare(X, pd.Series(y))


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(WrongCall, match="did you mean 'smote'"):
        choose_candidates(["smot"], 2, 100, "accuracy")
    with pytest.raises(WrongCall, match="did you mean 'macro_f1'"):
        Protocol(metric="macro_f2")
    for metric in ("log_loss", "ece", "average_precision"):
        names, left_out = choose_candidates(["immax_hinge", "immax_svc"], 2, 500, metric)
        assert names == ["logistic"]
        assert left_out == dict.fromkeys(("immax_hinge", "immax_svc"), "has no probabilities")
    assert len(choose_candidates(["all"], 2, 100, "accuracy")[0]) == len(CANDIDATES)
