"""Search spaces for Optuna."""

import sys

import numpy as np
import pytest

from immax.losses.catalog import METHODS
from immax.margins import theory_margins
from immax.search import BoxFamily, suggest_margins, suggest_method, tune

optuna = pytest.importorskip("optuna")
COUNTS = np.array([500, 120, 40, 9])


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def trials(n, suggest):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    found = []
    for _ in range(n):
        found.append(suggest(study.ask()))
    return found


@pytest.mark.parametrize("family", ["auto", "box", "shared_tail", "free"])
@pytest.mark.parametrize("counts", [COUNTS, COUNTS[:2]])
def test_margins_stay_in_the_box(family, counts):
    for total, expected in ((None, counts.size), (1, 1)):
        for rho in trials(20, lambda trial, t=total: suggest_margins(trial, counts, family, t)):
            assert rho.shape == counts.shape
            assert (rho > 0).all()
            boxed = family in ("box", "shared_tail") and counts.size > 2
            low, high = (0.2, 1.8) if boxed else (1, 1)
            assert low * expected - 1e-9 <= rho.sum() <= high * expected + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_methods_come_from_the_paper_s_grids(method):
    specs = trials(30, lambda trial: suggest_method(trial, method, COUNTS))
    assert all(spec.n_classes == 4 for spec in specs)
    study = optuna.create_study()
    trial = study.ask()
    suggest_method(trial, method, COUNTS)
    for name, values in METHODS[method].grid.items():
        if method != "immax":
            assert trial.params[f"{method}_{name}"] in values


def test_an_unknown_method():
    with pytest.raises(ValueError, match="method must be one of"):
        trials(1, lambda trial: suggest_method(trial, "best", COUNTS))


def closeness(trial, rho):
    return -float(np.sum((rho - [2.8, 0.4, 0.4, 0.4]) ** 2))


def test_tune_begins_with_equal_margins_and_the_theory_s():
    seen = []

    def objective(trial, rho):
        seen.append(rho)
        return closeness(trial, rho)

    study = tune(objective, COUNTS, n_trials=15)
    np.testing.assert_allclose(seen[0], 1)
    np.testing.assert_allclose(seen[1], theory_margins(COUNTS))
    assert study.best_value >= max(closeness(None, rho) for rho in seen) - 1e-12
    again = tune(closeness, COUNTS, n_trials=15)
    assert again.best_params == study.best_params


def test_tune_goes_on_from_a_storage(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    first = tune(closeness, COUNTS, BoxFamily(), 4, storage=storage)
    assert len(first.trials) == 4
    more = tune(closeness, COUNTS, BoxFamily(), 6, storage=storage)
    assert len(more.trials) == 6
    assert len(tune(closeness, COUNTS, BoxFamily(), 6, storage=storage).trials) == 6


def test_pruned_trials_are_left_alone():
    def objective(trial, rho):
        trial.report(closeness(trial, rho), 0)
        if trial.number > 5 and trial.should_prune():
            raise optuna.TrialPruned
        return closeness(trial, rho)

    study = tune(objective, COUNTS, n_trials=20, pruner=optuna.pruners.MedianPruner(3))
    assert any(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)


def test_without_optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"immax\[bench\]"):
        tune(closeness, COUNTS)
