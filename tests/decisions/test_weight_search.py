"""The search for class weights."""

import numpy as np
import pytest

from immax.decisions.aims import MCC, Accuracy, FBeta, GMean, Kappa
from immax.decisions.weight_search import search_weights


def test_the_plain_rule_is_kept_where_it_is_best():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), 2000)
    weights = search_weights(proba, proba, Accuracy(), np.full(3, 1 / 3))
    decisions = np.argmax(proba * weights, axis=1)
    assert (decisions == proba.argmax(axis=1)).mean() > 0.99


@pytest.mark.parametrize("c", [3, 12])
def test_it_never_ends_below_its_starts(c):
    rng = np.random.default_rng(c)
    prior = 0.5 ** np.arange(c)
    prior /= prior.sum()
    proba = rng.dirichlet(5 * prior, 1000)
    soft = np.eye(c)[[rng.choice(c, p=row) for row in proba]]
    for aim in (FBeta(average="macro"), GMean()):

        def value(weights, aim=aim, soft=soft, proba=proba):
            decided = np.argmax(proba * weights, axis=1)
            table = np.stack([soft[decided == j].sum(axis=0) for j in range(c)], axis=1)
            return float(aim.value(table))

        found = value(search_weights(proba, soft, aim, prior))
        assert found >= max(value(prior**power) for power in (0.0, -0.5, -1.0)) - 1e-9


def test_weights_are_scaled_to_a_largest_of_one():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([5, 1, 1], 200)
    soft = np.eye(3)[proba.argmax(axis=1)]
    assert search_weights(proba, soft, FBeta(average="macro"), np.full(3, 1 / 3)).max() == 1


@pytest.mark.parametrize("aim", [FBeta(average="macro"), MCC(), Kappa()], ids=lambda a: a.name)
def test_no_weights_on_a_grid_are_better_by_much(aim):
    rng = np.random.default_rng(4)
    prior = np.array([0.7, 0.2, 0.1])
    proba = rng.dirichlet(4 * prior, 800)
    labels = np.array([rng.choice(3, p=row) for row in proba])
    soft = np.eye(3)[labels]

    def value(weights):
        decided = np.argmax(proba * weights, axis=1)
        table = np.zeros((3, 3))
        np.add.at(table, (labels, decided), 1)
        return float(aim.value(table))

    found = value(search_weights(proba, soft, aim, prior))
    axis = np.geomspace(0.05, 20, 40)
    assert found >= max(value(np.array([1, a, b])) for a in axis for b in axis) - 0.004


def test_a_linear_approximation_of_the_aim_gives_a_better_start():
    from immax.decisions.weight_search import _linearised, _value

    rng = np.random.default_rng(0)
    prior = 0.6 ** np.arange(6)
    proba = rng.dirichlet(4 * prior / prior.sum(), 1500)
    soft = np.eye(6)[[rng.choice(6, p=row) for row in proba]]
    log_p, start = np.log(proba + 1e-300), -0.5 * np.log(soft.mean(axis=0))
    for aim in (MCC(), Kappa()):
        found = _linearised(log_p, soft, aim, start)
        assert _value(log_p, soft, aim, found) > _value(log_p, soft, aim, start) + 1e-3
