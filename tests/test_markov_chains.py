"""Stationary distributions."""

import numpy as np

from immax.markov_chains import stationary


def test_stationary_against_the_eigenvector():
    rng = np.random.default_rng(0)
    chains = rng.dirichlet(np.ones(6), size=(40, 6))
    q = stationary(np.log(chains))
    np.testing.assert_allclose(np.einsum("nk,nkj->nj", q, chains), q, rtol=1e-12)
    # And with rates far below what a float can hold.
    log_rates = np.array([[[0.0, -2000.0], [-3000.0, 0.0]]])
    np.testing.assert_array_equal(stationary(log_rates), [[0.0, 1.0]])


def test_many_states_against_the_eigenvector():
    rng = np.random.default_rng(1)
    # Rows that are much alike are iterated; a chain that hardly moves is reduced.
    alike = rng.dirichlet(np.full(40, 0.5), size=(3, 1)) + 0.01 * rng.dirichlet(
        np.ones(40), (3, 40)
    )
    lazy = np.full((1, 40, 40), 1e-9) + (1 - 40e-9) * np.eye(40)
    lazy[0, 0, 1] = 1e-7
    for chains in (alike / alike.sum(axis=2, keepdims=True), lazy / lazy.sum(2, keepdims=True)):
        q = stationary(np.log(chains))
        np.testing.assert_allclose(np.einsum("nk,nkj->nj", q, chains), q, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(q.sum(axis=1), 1)
    assert q[0, 1] > 1.5 * q[0, 2]
