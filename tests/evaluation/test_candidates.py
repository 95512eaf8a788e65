"""The registry of candidates against the catalogue of methods and the estimators."""

import numpy as np
import pytest

from immax.errors import WrongCall
from immax.evaluation.candidates import CANDIDATES, DEFAULT, PLAIN, choose_candidates
from immax.evaluation.estimators import ESTIMATORS, make_estimator
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import Selection
from immax.losses.catalog import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_catalogue_is_a_candidate(name):
    candidate = CANDIDATES[name]
    assert (candidate.model, candidate.method) == ("linear", name)
    # Logistic IMMAX is one of several candidates of IMMAX, so its title says which.
    expected = METHODS[name].title + (" logistic" if name == "immax" else "")
    assert candidate.title == expected


@pytest.mark.parametrize("candidate", CANDIDATES.values(), ids=lambda candidate: candidate.name)
def test_every_candidate_has_an_estimator(candidate):
    assert CANDIDATES[candidate.name] is candidate
    assert candidate.method in ESTIMATORS[candidate.model]
    pytest.importorskip(candidate.needs or "numpy")
    y = np.arange(60) % 3 % 2
    model = make_estimator(candidate.model, candidate.method, y, Selection(folds=2), {}, 0)
    assert hasattr(model, "fit")


def test_titles_differ():
    titles = [candidate.title for candidate in CANDIDATES.values()]
    assert len(set(titles)) == len(titles)


def test_the_baseline_is_the_first_of_the_defaults():
    assert DEFAULT[0] == next(iter(CANDIDATES)) == PLAIN
    assert set(DEFAULT) == {name for name, row in CANDIDATES.items() if row.default}


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(WrongCall, match="did you mean 'smote'"):
        choose_candidates(["smot"], 2, 100, "accuracy")


def test_all_and_the_defaults():
    pytest.importorskip("imblearn")
    pytest.importorskip("xgboost")
    names, left_out = choose_candidates(["all"], 2, 100, "accuracy")
    assert (names, left_out) == (list(CANDIDATES), {})
    names, left_out = choose_candidates(None, 2, 100, "accuracy")
    assert (names, left_out) == (list(DEFAULT), {})


def test_the_baseline_is_always_included_and_nothing_twice():
    assert choose_candidates([], 2, 100, "accuracy") == ([PLAIN], {})
    assert choose_candidates(["ce", PLAIN, "ce"], 2, 100, "accuracy") == ([PLAIN, "ce"], {})


@pytest.mark.parametrize("metric", [name for name, row in METRICS.items() if row.needs_proba])
def test_metrics_of_probabilities_leave_out_methods_without_them(metric):
    names, left_out = choose_candidates(["immax_hinge", "immax_svc"], 2, 500, metric)
    assert names == [PLAIN]
    assert left_out == dict.fromkeys(("immax_hinge", "immax_svc"), "has no probabilities")


def test_methods_that_do_not_suit_the_data_are_left_out(monkeypatch):
    assert choose_candidates(["threshold"], 3, 100, "accuracy")[1] == {
        "threshold": "for two classes only"
    }
    assert choose_candidates(["immax_svc"], 2, 2001, "accuracy")[1] == {
        "immax_svc": "for at most 2000 rows"
    }
    monkeypatch.setattr("immax.evaluation.candidates.find_spec", lambda name: None)
    assert choose_candidates(["smote", "xgb"], 2, 100, "accuracy")[1] == {
        "smote": "imbalanced-learn is not installed",
        "xgb": "xgboost is not installed",
    }


def test_methods_that_need_all_rows_are_left_out_of_streamed_tables():
    names, left_out = choose_candidates(["immax", "svm", "la"], 2, 10**7, "accuracy", streamed=True)
    assert names == ["logistic", "immax", "la"]
    assert left_out == {"svm": "needs all rows in memory: --rows compares it on a sample"}
