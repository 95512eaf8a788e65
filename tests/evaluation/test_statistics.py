"""Ranks, tests and intervals against SciPy, Demšar's tables and plain loops."""

import numpy as np
import pytest
from scipy import stats

from immax.evaluation.statistics import (
    PairedComparison,
    average_ranks,
    compare_to,
    critical_difference,
    friedman,
    holm,
    paired_gain,
    paired_interval,
    paired_p,
)


def test_tied_methods_share_their_ranks():
    values = np.array([[3.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    np.testing.assert_allclose(average_ranks(values), [1.75, 2.5, 2.5, 3.25])


def test_rounding_errors_are_ties():
    np.testing.assert_allclose(average_ranks([[0.5, 0.5 + 1e-12], [0.2, 0.1]]), [1.25, 1.75])
    assert compare_to([0.5, 0.2], [0.5 + 1e-12, 0.1])[:3] == (1, 1, 0)


def test_means_of_six_digits_tie_on_either_side_of_a_decimal():
    # The means of 0.3333333 and 0.6666667, and of two halves, once they have six digits.
    values = [[np.mean([0.333333, 0.666667, 0.500001]), 0.5, 0.4], [0.2, 0.1, 0.3]]
    np.testing.assert_allclose(average_ranks(values), [1.75, 2.25, 2.0])
    assert average_ranks([[0.5, 0.50001, 0.4]]).tolist() == [2.0, 1.0, 3.0]


def test_small_differences_of_folds_are_differences():
    """As of costs that are millionths of a unit."""
    rng = np.random.default_rng(0)
    differences = rng.normal(3e-7, 1e-7, 10)
    assert paired_p(differences) == pytest.approx(paired_p(1e6 * differences))
    left_out = differences + rng.normal(0, 1e-8, (20, 10))
    small, large = (paired_gain(scale * differences, scale * left_out, 10) for scale in (1.0, 1e6))
    assert small.error > 0
    assert small.p == pytest.approx(large.p)


def test_friedman_and_wilcoxon_agree_with_scipy():
    rng = np.random.default_rng(0)
    values = rng.normal([0.5, 0, 0, 0], size=(30, 4))
    assert friedman(values) == pytest.approx(stats.friedmanchisquare(*values.T).pvalue, rel=1e-6)
    compared = compare_to(values[:, 0], values[:, 1])
    expected = stats.wilcoxon(values[:, 0], values[:, 1], method="approx").pvalue
    assert compared.p == pytest.approx(expected)
    assert friedman(values[:, :2]) == pytest.approx(expected, rel=1e-6)
    assert compared.wins + compared.ties + compared.losses == 30
    assert compared.mean == pytest.approx(np.mean(values[:, 0] - values[:, 1]))
    assert friedman(np.ones((5, 3))) == 1.0
    assert compare_to([1.0, 2.0], [1.0, 2.0]) == PairedComparison(0, 2, 0, 0.0, 1.0)


def test_holm_by_hand():
    assert holm([0.04, 0.01, 0.5]).tolist() == pytest.approx([0.08, 0.03, 0.5])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_an_interval_covers_the_mean_at_its_level():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        low, high = paired_interval(rng.normal(0.3, 1, 12))
        hits += low < 0.3 < high
    assert 0.92 < hits / 400 < 0.98
    assert paired_interval([1.0]) == (-np.inf, np.inf)


def test_without_overlap_the_p_value_is_that_of_the_t_test():
    differences = np.random.default_rng(2).normal(0.4, 1, 9)
    assert paired_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    assert paired_p([0.1]) == 1.0
    assert paired_p([0.0, 0.0, 1e-12]) == 1.0
    assert paired_p([0.1, 0.1, 0.1]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("overlap", [0.0, 0.25])
@pytest.mark.parametrize("shift", np.linspace(0.1, 1.2, 6))
def test_p_values_and_intervals_agree(shift, overlap):
    differences = np.random.default_rng(3).normal(shift, 0.5, 5)
    low, high = paired_interval(differences, overlap=overlap)
    assert (paired_p(differences, overlap) < 0.05) == (low > 0 or high < 0)


def test_overlapping_training_sets_widen_the_interval():
    differences = [0.1, 0.2, 0.4, 0.3]
    error = np.std(differences, ddof=1) * np.sqrt(1 / 4 + 1 / 3)
    half = stats.t.ppf(0.975, 3) * error
    assert paired_interval(differences, overlap=1 / 3) == pytest.approx((0.25 - half, 0.25 + half))


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_that_of_demsars_table(n_methods, q):
    """Table 5 (a) of Demšar (2006) has the quantiles q of the level 0.05."""
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) == pytest.approx(expected, abs=1e-3)
    assert critical_difference(n_methods, 30, level=0.1) < critical_difference(n_methods, 30)


def grouped(samples):
    """Means of folds, with all samples and with a group of them left out."""
    total, own = samples.sum(axis=(0, 1)), samples.sum(axis=1)
    n = samples.shape[0] * samples.shape[1]
    return total / n, (total - own) / (n - samples.shape[1])


def test_a_paired_gain_is_certain_where_folds_alone_are_not():
    samples = np.random.default_rng(1).normal(0.1, 1, (20, 100, 5))
    folds, left_out = grouped(samples)
    gain = paired_gain(folds, left_out, 5)
    assert gain.mean == pytest.approx(folds.mean())
    assert gain.low < gain.mean < gain.high
    assert gain.p < paired_p(folds, overlap=1 / 4)
    low, high = paired_interval(folds, overlap=1 / 4)
    assert gain.high - gain.low < high - low
    assert (gain.p < 0.05) == (gain.low > 0)


def test_the_error_of_a_paired_gain_is_that_of_the_samples_and_part_of_the_folds():
    samples = np.random.default_rng(0).normal(0, 1, (20, 50, 5))
    folds, left_out = grouped(samples)
    gain = paired_gain(folds, left_out, 5)
    expected = 1 / 5000 + 0.5 * folds.var(ddof=1) / 4
    assert gain.error == pytest.approx(np.sqrt(expected), rel=0.25)


def test_a_few_samples_that_decide_widen_the_interval():
    """Degrees of freedom follow the groups that matter."""
    even = np.random.default_rng(0).normal(0, 1, (20, 10, 5))
    rare = np.zeros_like(even)
    rare[:2] = even[:2] * np.sqrt(10)
    for samples in (even, rare):
        folds, left_out = grouped(samples)
        gain = paired_gain(folds, left_out, 5)
        width = (gain.high - gain.low) / 2 / gain.error
        assert width > 2.0
    assert width > 2.3


def test_no_difference_at_all():
    assert paired_gain(np.zeros(5), np.zeros((20, 5)), 5) == (0, 0, 0, 0, 1)
    assert paired_gain(np.ones(5), np.ones((20, 5)), 5) == (1, 0, 1, 1, 0)
