"""The search for class weights."""

import numpy as np
import pytest

from immax.decisions.aims import Accuracy, FBeta, GMean
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
