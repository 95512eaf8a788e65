"""The choice of a cell."""

import numpy as np
import pytest

from immax.search.selection import choose_cell, choose_probabilities, near_ties, spread


def left_out(scores):
    """Return the means of the scores, and those without each test."""
    n = scores.shape[1]
    means = scores.mean(axis=1)
    return means, (n * means[:, None] - scores) / (n - 1)


def test_near_ties_are_paired():
    scores = np.array([[0.9, 0.5, 0.7], [0.89, 0.49, 0.69], [0.7, 0.7, 0.7], [0.9, 0.5, 0.7]])
    # The second is behind in every fold; the third's difference is lost in its own noise.
    assert near_ties(*left_out(scores), 0).tolist() == [True, False, True, True]


def test_the_simplest_of_the_near_best():
    scores = np.array([[0.8, 0.9], [0.81, 0.9], [0.79, 0.91], [0.5, 0.5]])
    spreads, lams, rules = np.array([0.0, 0.3, 0.3, 0.0]), np.ones(4), np.zeros(4)
    none = np.zeros(4)
    assert choose_cell(*left_out(scores), none, spreads, lams, rules, one_se=False) == 1
    assert choose_cell(*left_out(scores), none, spreads, lams, rules, one_se=True) == 0


def test_ties_go_to_the_lower_loss_the_larger_lam_and_the_first_rule():
    scores, none = np.full((4, 3), 0.8), np.zeros(4)
    lams, rules = np.array([0.1, 1.0, 1.0, 0.1]), np.array([0, 1, 0, 1])
    assert choose_cell(*left_out(scores), none, none, lams, rules, one_se=False) == 2
    losses = np.array([0.3, 0.5, 0.5, 0.3])
    assert choose_cell(*left_out(scores), losses, none, lams, rules, one_se=False) == 0


def test_the_spread_does_not_depend_on_the_scale():
    rho = np.array([0.7, 0.2, 0.1])
    assert spread(3 * rho) == spread(rho) == pytest.approx(np.log(rho).std())
    assert spread(np.full(3, 0.4)) == 0


def test_the_error_is_that_of_the_paired_differences():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 5))
    scores[0] += 1.5
    behind = scores[0] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(5)
    np.testing.assert_array_equal(near_ties(*left_out(scores), 0), behind.mean(axis=1) <= error)


def test_probabilities_are_those_of_the_lowest_log_loss():
    losses = np.array([[0.3, 0.3], [0.2, 0.2], [0.25, 0.25]])
    none = np.zeros(3)
    assert choose_probabilities(losses, none, 0) == 1
    assert choose_probabilities(np.array([[0.2001], [0.2], [0.25]]), none, 0) == 0  # as low


def test_unequal_margins_give_probabilities_only_if_they_are_clearly_better():
    plain, noisy, clear = [0.3, 0.32, 0.31], [0.2, 0.4, 0.3], [0.2, 0.22, 0.21]
    assert choose_probabilities(np.array([plain, noisy]), np.array([0.0, 0.4]), 0) == 0
    assert choose_probabilities(np.array([plain, clear]), np.array([0.0, 0.4]), 0) == 1


def test_cells_without_a_score_are_not_chosen():
    ones, rules = np.ones(2), np.zeros(2, dtype=int)
    totals = np.array([np.nan, 0.5])
    without = np.tile(totals[:, None], 3)
    assert choose_cell(totals, without, ones, ones, ones, rules, False) == 1
    with pytest.raises(ValueError, match="score of every cell is NaN"):
        choose_cell(np.full(2, np.nan), without, ones, ones, ones, rules, False)
