"""Callbacks of scikit-learn on every estimator that has them, and its earlier versions."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from callback_cases import Recorder, needs_callbacks
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from immax import IMMAXSVC, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import DecisionClassifierCV
from immax.search import IMMAXSVCCV

X, Y = (part[:120] for part in load_iris(return_X_y=True))  # 50, 50 and 20 samples
X2, Y2 = load_breast_cancer(return_X_y=True)
X2 = scale(X2)[:200, :8]
Y2 = Y2[:200]
SEARCH = {"n_margins": 2, "lams": [0.1, 0.01], "cv": 2}


@needs_callbacks
@pytest.mark.parametrize(
    "model",
    [
        IMMAXClassifier(solver="newton"),
        IMMAXClassifier(solver="lbfgs", fit_intercept=False),
        IMMAXClassifier("hinge"),
        IMMAXClassifier(penalty="l1", lam=0.01),
        BaselineClassifier("la"),
    ],
)
@pytest.mark.parametrize("data", [(X, Y), (X2, Y2)], ids=["three classes", "two classes"])
def test_iterations_lead_to_the_model(model, data):
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder).fit(*data)
    expected = clone(model).set_callbacks().fit(*data)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert recorder.begun[0] == recorder.ended[-1] == ("fit",)
    n_iterations = recorder.ended.count(("fit", "iteration"))
    assert len(recorder.begun) == len(recorder.ended) == n_iterations + 1
    assert len(recorder.models) == n_iterations  # all but the last, and the fit itself
    assert n_iterations > 1
    *_, last, final = recorder.models
    np.testing.assert_array_equal(final.predict(data[0]), model.predict(data[0]))
    np.testing.assert_allclose(
        last.decision_function(data[0]), model.decision_function(data[0]), atol=0.05
    )
    assert recorder.n_setups == recorder.n_teardowns == 1


@needs_callbacks
def test_scoring_monitor_records_the_scores_of_the_iterates():
    from sklearn.callback import ScoringMonitor

    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    weight = np.where(Y == 0, 3.0, 1.0)
    monitor = ScoringMonitor(scoring="neg_log_loss")
    model = IMMAXClassifier().set_callbacks(monitor).fit(frame, Y, sample_weight=weight)
    root, *iterations = monitor.get_logs().data
    expected = -log_loss(Y, model.predict_proba(frame), sample_weight=weight)
    assert root["neg_log_loss"] == pytest.approx(expected)
    scores = [row["neg_log_loss"] for row in iterations]
    assert len(scores) == model.n_iter_
    assert scores[0] < scores[-1] == pytest.approx(expected, abs=1e-4)


@needs_callbacks
def test_a_search_reports_rounds_folds_and_cells():
    recorder = Recorder()
    search = IMMAXClassifierCV(**SEARCH).set_callbacks(recorder).fit(X, Y)
    n_points = len({tuple(cell["parameters"]) for cell in search.cv_results_["params"]})
    round_path = ("fit", f"margins 1 to {n_points}")
    cells = [path[-1] for path in recorder.ended if path[:-1] == (*round_path, "fold")]
    order = [f"margins {i + 1}, lam={lam}" for lam in (0.1, 0.01) for i in range(n_points)]
    assert cells == 2 * order  # as they are fitted: from the strongest penalty, in both folds
    assert recorder.ended.count((*round_path, "fold")) == 2
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert ("fit", "fit", "iteration") in recorder.ended  # the final fit takes the task's place
    assert isinstance(recorder.models[-1], IMMAXClassifierCV)
    assert recorder.n_setups == recorder.n_teardowns == 1


@needs_callbacks
@pytest.mark.parametrize(
    "search",
    [
        IMMAXClassifierCV(**{**SEARCH, "cv": "loo"}),
        IMMAXClassifierCV(**SEARCH, refit=False),
        IMMAXSVCCV("linear", n_margins=1, Cs=[0.1, 1.0], cv=2),
    ],
)
def test_every_kind_of_cells_is_reported(search):
    from sklearn.callback import ScoringMonitor

    recorder, monitor = Recorder(), ScoringMonitor(scoring="accuracy")
    search.set_callbacks(recorder, monitor).fit(X2, Y2)
    n_folds = 1 if search.cv == "loo" else 2
    n_cells = len({str({**cell, "rule": ""}) for cell in search.cv_results_["params"]})
    cells = [path for path in recorder.ended if len(path) == 4 and path[2] == "fold"]
    assert len(cells) == n_folds * n_cells
    if search.refit:
        assert monitor.get_logs().data[0]["accuracy"] == search.score(X2, Y2)
    else:  # there is no model to be scored
        with pytest.raises(ValueError, match="No logs"):
            monitor.get_logs()


@needs_callbacks
def test_folds_from_a_cache_have_no_cells(tmp_path):
    search = IMMAXClassifierCV(**SEARCH, memory=str(tmp_path)).fit(X, Y)
    recorder = Recorder()
    clone(search).set_callbacks(recorder).fit(X, Y)
    assert sum(path[-1] == "fold" for path in recorder.ended) == 2
    assert not any("lam=" in path[-1] for path in recorder.ended)


@needs_callbacks
def test_progress_bars_of_processes(capsys):
    pytest.importorskip("rich", reason="rich is not installed")
    from sklearn.callback import ProgressBar

    search = IMMAXClassifierCV(**SEARCH, n_jobs=2).set_callbacks(ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    for line in ("IMMAXClassifierCV - fit", "fold #0", "fold #1", "refit | IMMAXClassifier - fit"):
        assert line in shown
    assert shown.count("100%") >= 5
    expected = clone(search).set_callbacks().set_params(n_jobs=None).fit(X, Y)
    np.testing.assert_array_equal(search.coef_, expected.coef_)


@needs_callbacks
def test_monitors_of_processes():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    model = IMMAXClassifier().set_callbacks(monitor)
    GridSearchCV(model, {"lam": [0.1, 0.01]}, cv=2, n_jobs=2).fit(X, Y)
    fits = [row for row in monitor.get_logs().data if row["task_name"] == "fit"]
    assert len(fits) == 5  # two values in two folds, and the final fit
    assert all(row["accuracy"] > 0.7 for row in fits)


@needs_callbacks
@pytest.mark.parametrize("task", ["iteration", "fold", "margins 2, lam=0.01"])
def test_a_failure_in_the_middle_tears_down(task):
    model = IMMAXClassifier() if task == "iteration" else IMMAXClassifierCV(**SEARCH)
    recorder = Recorder(fail_at=task)
    model.set_callbacks(recorder)
    with pytest.raises(OSError, match="the disk is full"):
        model.fit(X, Y)
    assert recorder.n_setups == recorder.n_teardowns == 1
    assert ("fit",) not in recorder.ended
    assert not any(name.endswith("_ctx") for name in vars(model))
    model.set_callbacks().fit(X, Y)  # it can still be fitted


@needs_callbacks
def test_bad_data_tear_down_too():
    recorder = Recorder()
    with pytest.raises(ValueError, match="one class"):
        IMMAXClassifier().set_callbacks(recorder).fit(X, np.zeros(len(Y)))
    assert recorder.n_setups == recorder.n_teardowns == 1


@needs_callbacks
@pytest.mark.parametrize(
    "model",
    [
        IMMAXClassifier(),
        BaselineClassifier(),
        IMMAXSVC(),
        IMMAXClassifierCV(lams=[0.1], n_margins=2, cv=2),
        IMMAXSVCCV(Cs=[1.0], n_margins=2, cv=2),
        DecisionClassifierCV(cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("failure", ["one class", "interrupted"])
def test_a_fit_that_fails_leaves_the_earlier_one(model, failure, monkeypatch):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    turned = frame[list("dcba")]
    model = clone(model).fit(frame, y)
    before = model.predict(frame)
    if failure == "one class":
        with pytest.raises(ValueError, match="one class"):
            model.fit(turned, np.zeros(150, dtype=int))
    else:
        searched = isinstance(model, (IMMAXClassifierCV, IMMAXSVCCV))
        last = "take_fit" if searched else "_fit" if hasattr(model, "_fit") else "take_solution"
        original = getattr(type(model), last)

        def stop(self, *arguments):
            if not searched:
                original(self, *arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr(type(model), last, stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit(turned, 2 - y)
    np.testing.assert_array_equal(model.predict(frame), before)
    with pytest.raises(ValueError, match="same order"):
        model.predict(turned)


@needs_callbacks
def test_copies_keep_the_callbacks():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    model = IMMAXClassifier().set_callbacks(monitor).fit(X, Y)
    clone(model).fit(X, Y)
    assert len(monitor.get_logs(select="all")) == 2
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))
    restored.fit(X, Y)
    assert len(monitor.get_logs(select="all")) == 2  # the copy has a monitor of its own


@needs_callbacks
def test_model_files_say_how_to_remove_callbacks(tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    from sklearn.callback import ScoringMonitor

    from immax.io import ModelFileError, save_model

    model = IMMAXClassifier().set_callbacks(ScoringMonitor(scoring="accuracy")).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"remove callbacks by model\.set_callbacks\(\)"):
        save_model(model, tmp_path / "model.skops")
    save_model(model.set_callbacks(), tmp_path / "model.skops")


@needs_callbacks
@pytest.mark.parametrize("parameters", [{}, {"calibrated": True}, {"multiclass": "ovo"}])
def test_a_kernel_machine_is_one_task(parameters):
    recorder = Recorder()
    IMMAXSVC("linear", **parameters).set_callbacks(recorder).fit(X, Y)
    assert recorder.begun == recorder.ended == [("fit",)]
    assert recorder.n_setups == 1


@needs_callbacks
def test_decisions_report_the_final_fit():
    recorder = Recorder()
    DecisionClassifierCV(IMMAXClassifier(), cv=2).set_callbacks(recorder).fit(X2, Y2)
    parts = list(dict.fromkeys(path[:2] for path in recorder.ended))
    assert parts == [("fit", "folds"), ("fit", "fit"), ("fit", "rule"), ("fit",)]
    assert ("fit", "fit", "iteration") in recorder.ended
    recorder = Recorder()
    fitted = LogisticRegression().fit(X2, Y2)
    DecisionClassifierCV(fitted, cv="prefit").set_callbacks(recorder).fit(X2, Y2)
    assert recorder.ended == [("fit", "rule"), ("fit",)]


@needs_callbacks
def test_fits_within_other_estimators_are_parts_of_theirs():
    recorder = Recorder()
    pipeline = make_pipeline(StandardScaler(), IMMAXClassifier()).set_callbacks(recorder)
    pipeline.fit(X, Y)
    assert ("fit", "fit", "iteration") in recorder.ended
    assert recorder.n_setups == recorder.n_teardowns == 1
    recorder = Recorder()
    search = GridSearchCV(IMMAXClassifierCV(**SEARCH), {"rule": ["score", "bayes"]}, cv=2)
    search.set_callbacks(recorder).fit(X, Y)
    assert sum(path[-1] == "fold" for path in recorder.ended) == 2 * 5
    assert recorder.n_setups == recorder.n_teardowns == 1


@needs_callbacks
def test_classes_that_are_not_callbacks_are_refused():
    with pytest.raises(TypeError, match="callbacks must be instances"):
        IMMAXClassifier().set_callbacks(print)


@needs_callbacks
def test_warnings_still_point_at_the_caller():
    with pytest.warns(ConvergenceWarning) as found:
        IMMAXClassifier(max_iter=1).set_callbacks(Recorder()).fit(X, Y)
    assert {warning.filename for warning in found} == {__file__}


OLDER = """
import sys
from sklearn import calibration, linear_model, model_selection, pipeline  # have their own imports
from sklearn.datasets import load_iris
sys.modules["sklearn.callback"] = None
from immax import IMMAXClassifier, IMMAXClassifierCV, IMMAXSVC
from immax.decisions import DecisionClassifierCV
X, y = load_iris(return_X_y=True)
for model in (
    IMMAXClassifier(),
    IMMAXClassifierCV(n_margins=2, lams=[0.1], cv=2),
    IMMAXSVC("linear"),
    DecisionClassifierCV(IMMAXClassifier(), cv=2),
):
    before = set(vars(model))
    model.fit(X, y)
    names = {name for name in set(vars(model)) - before if not name.endswith("_")}
    print(type(model).__name__, hasattr(model, "set_callbacks"), names <= {"_gamma"})
"""


def test_earlier_versions_of_scikit_learn_have_no_callbacks():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", OLDER], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in run.stdout.splitlines()]
    assert len(lines) == 4
    assert all(rest == ["False", "True"] for _, *rest in lines)
