"""Ranks and tests beside SciPy and plain loops."""

import numpy as np
import pytest
from scipy import stats

from immax.bench.paper import PAPER, paper_figure
from immax.evaluation.metrics import expected_calibration_error, measure
from immax.evaluation.statistics import (
    average_ranks,
    compare_to,
    critical_difference,
    friedman,
    holm,
    paired_interval,
)


def test_ranks_share_ties():
    values = np.array([[3.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    np.testing.assert_allclose(average_ranks(values), [1.75, 2.5, 2.5, 3.25])


def test_friedman_and_wilcoxon_are_scipys():
    rng = np.random.default_rng(0)
    values = rng.normal([0.5, 0, 0, 0], size=(30, 4))
    assert friedman(values) == pytest.approx(stats.friedmanchisquare(*values.T).pvalue, rel=1e-6)
    found = compare_to(values[:, 0], values[:, 1])
    expected = stats.wilcoxon(values[:, 0], values[:, 1], method="approx").pvalue
    assert found.p == pytest.approx(expected)
    assert found.wins + found.ties + found.losses == 30
    assert friedman(np.ones((5, 3))) == 1.0
    assert compare_to([1.0, 2.0], [1.0, 2.0]) == (0, 2, 0, 0.0, 1.0)


def test_holm_by_hand():
    assert holm([0.04, 0.01, 0.5]).tolist() == pytest.approx([0.08, 0.03, 0.5])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_an_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        low, high = paired_interval(rng.normal(0.3, 1, 12))
        hits += low < 0.3 < high
    assert 0.92 < hits / 400 < 0.98
    assert paired_interval([1.0]) == (-np.inf, np.inf)


def test_calibration_error_by_hand():
    proba = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.35, 0.65]])
    y = np.array([0, 1, 1, 1])
    # Bins of a fifteenth: 0.9 is one, right half the time; 0.6 and 0.65 are one, always right.
    expected = (abs(2 * 0.9 - 1) + abs(1.25 - 2)) / 4
    assert expected_calibration_error(proba, y) == pytest.approx(expected)


def test_measures():
    y, said = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    proba = np.array([[0.8, 0.2], [0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
    found = measure(y, said, proba, 2)
    assert found["accuracy"] == 0.75
    assert found["balanced_accuracy"] == pytest.approx((2 / 3 + 1) / 2)
    assert found["log_loss"] == pytest.approx(-np.log([0.8, 0.9, 0.4, 1.0]).mean())
    assert "log_loss" not in measure(y, said, None, 2)


def test_the_papers_figures():
    assert len(PAPER) == 2 * 3 * 9 * 3 + 9
    spec = {"data": {"name": "cifar10"}, "model": "resnet34", "method": "immax"}
    spec["variant"] = {"kind": "long_tailed", "ratio": 100.0}
    assert paper_figure(spec) == (96.56, 0.18)
    assert paper_figure(spec, "balanced") is None
    assert paper_figure({**spec, "model": "resnet8"}) is None
    binary = {**spec, "model": "linear", "method": "hinge"}
    binary["variant"] = {"kind": "one_vs_rest", "class": "horse"}
    assert paper_figure(binary) == (90.58, 0.11)


def test_where_the_papers_gain_is_below_what_it_says():
    """The paper says that IMMAX gains 0.6 over the runner-up everywhere."""
    short = []
    for data in ("cifar10", "cifar100", "tiny_imagenet"):
        for kind in ("long_tailed", "step"):
            for ratio in (200.0, 100.0, 10.0):
                row = {
                    m: PAPER[data, kind, ratio, m][0]
                    for m in ("ce", "rw", "bs", "equal", "la", "cb", "focal", "ldam")
                }
                gain = PAPER[data, kind, ratio, "immax"][0] - max(row.values())
                if gain < 0.6 - 1e-9:
                    short.append((data, kind, ratio))
    assert short == [
        ("cifar10", "long_tailed", 10.0),
        ("cifar10", "step", 200.0),
        ("cifar10", "step", 10.0),
    ]


def test_the_critical_difference_is_demsars():
    # His table 5 has q = 2.728 for five methods.
    assert critical_difference(5, 30) == pytest.approx(2.728 * np.sqrt(30 / 180), abs=1e-3)
