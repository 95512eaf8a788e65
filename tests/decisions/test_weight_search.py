"""The search for class weights."""

import tracemalloc

import numpy as np
import pytest

from immax.decisions import weight_search
from immax.decisions.aims import MCC, Accuracy, FBeta, GMean, Kappa
from immax.decisions.weight_search import search_weights
from immax.plain_rules import highest_argmax


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


def test_a_linear_approximation_of_the_aim_gives_a_better_start(monkeypatch):
    rng = np.random.default_rng(0)
    prior = 0.6 ** np.arange(6)
    proba = rng.dirichlet(4 * prior / prior.sum(), 1500)
    soft = np.eye(6)[[rng.choice(6, p=row) for row in proba]]
    monkeypatch.setattr(weight_search, "MOST_PASSES", 0)  # the best of the starts

    for aim in (MCC(), Kappa()):

        def value(weights, aim=aim):
            return float(aim.value(table_of(proba, weights, soft)))

        found = value(search_weights(proba, soft, aim, soft.mean(axis=0)))
        plain = max(value(soft.mean(axis=0) ** power) for power in (0.0, -0.5, -1.0))
        assert found > plain + 1e-3


def table_of(proba, weights, soft):
    decided = highest_argmax(proba * weights)
    c = len(weights)
    return np.stack([soft[decided == j].sum(axis=0) for j in range(c)], axis=1)


@pytest.mark.parametrize("aim", [FBeta(average="macro"), MCC(), GMean()], ids=lambda a: a.name)
@pytest.mark.parametrize("n_trees", [2, 5])
def test_probabilities_with_ties_and_zeros(aim, n_trees):
    """Shares of votes, as of forests: no weights of a grid are better than those that are found."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.r_[0, 1, 2, rng.choice(3, 117, p=[0.7, 0.2, 0.1])]
        votes = np.where(rng.random((120, n_trees)) < 0.5, y[:, None], rng.integers(0, 3, (120, 1)))
        proba = np.stack([(votes == k).mean(axis=1) for k in range(3)], axis=1)
        soft = np.eye(3)[y]

        def value(weights, proba=proba, soft=soft):
            return float(aim.value(table_of(proba, weights, soft)))

        found = value(search_weights(proba, soft, aim, soft.mean(axis=0)))
        axis = np.exp(np.linspace(-4, 4, 21) + 0.01)
        assert found >= max(value(np.array([1, a, b])) for a in axis for b in axis) - 0.02


def test_cuts_are_exact_where_a_class_is_rare():
    """Fifty of 40,000 samples are of class 2, and their probabilities tell them from the others."""
    n, rare = 40_000, 50
    rng = np.random.default_rng(0)
    y = np.r_[np.full(rare, 2), rng.integers(0, 2, n - rare)]
    own = np.r_[rng.uniform(0.011, 0.02, rare), rng.uniform(0, 0.0105, n - rare)]
    others = rng.uniform(0.49, 0.51, n)
    proba = np.c_[(1 - own) * others, (1 - own) * (1 - others), own]
    weights = search_weights(
        proba, np.eye(3)[y], FBeta(average="macro"), np.array([0.5, 0.499, 0.001])
    )
    decided = highest_argmax(proba * weights) == 2
    assert (decided == (y == 2)).mean() > 1 - 10 / n


def test_many_classes_need_no_matrix_for_each_pair_of_them():
    c = 200
    rng = np.random.default_rng(0)
    y = np.arange(2 * c) % c
    proba = rng.dirichlet(np.full(c, 0.1), 2 * c) / 2 + np.eye(c)[y] / 2
    tracemalloc.start()
    try:
        search_weights(proba, np.eye(c)[y], MCC(), np.full(c, 1 / c))
        assert tracemalloc.get_traced_memory()[1] < 2e8  # c^4 numbers are 1.3e10 bytes
    finally:
        tracemalloc.stop()
