"""Means, differences, and which method is significantly better than every other."""

import numpy as np
import pytest
from bench_cases import record

from immax.bench.cells import Variant
from immax.bench.mean_tables import difference_table, format_mean, mean_table, surely_best
from immax.bench.results import Results

COLUMN = "cifar10"


def results(**values):
    """A value of the metric for each run of each method."""
    metric = values.pop("metric", "accuracy")
    return Results(
        [
            record(method, run, **{metric: value})
            for method, own in values.items()
            for run, value in enumerate(own)
        ]
    )


def best(own, metric="accuracy"):
    return surely_best(own, COLUMN, "linear", own.methods, "imbalanced", metric)


SURE = {"immax": (0.90, 0.91, 0.92), "ce": (0.85, 0.87, 0.86), "la": (0.80, 0.83, 0.81)}


def test_a_method_that_beats_every_other_is_surely_best():
    assert best(results(**SURE)) == "immax"


def test_a_method_that_beats_all_but_one_is_not():
    assert best(results(**SURE | {"ce": (0.85, 0.94, 0.86)})) is None


def test_lower_is_better_for_log_loss():
    assert best(results(metric="log_loss", **SURE), "log_loss") == "la"


def test_holm_s_correction_counts():
    # p = 0.03 alone, but there are two comparisons with it.
    d = np.array([0.01, 0.02, 0.003, 0.012])
    base = np.array([0.8, 0.81, 0.82, 0.83])
    assert best(results(immax=base + d, ce=base)) == "immax"
    assert best(results(immax=base + d, ce=base, la=base[[1, 0, 3, 2]] - 0.01, rw=base)) is None


def test_a_method_without_the_metric_is_left_out():
    own = results(**SURE | {"hinge": (np.nan, np.nan, np.nan)})
    assert best(own) == "immax"
    assert best(results(immax=(0.9, 0.91), ce=(np.nan, 0.8))) is None  # nothing to compare with


def test_ties_and_single_runs_are_not_sure():
    assert best(results(immax=(0.9, 0.9), ce=(0.9, 0.9))) is None
    assert best(results(immax=(0.9,), ce=(0.1,))) is None
    assert best(results(immax=(0.9, 0.9), ce=(0.8, 0.8))) == "immax"


def test_accuracy_is_compared_over_test_samples():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    flips = {name: rng.random(400) < share for name, share in (("immax", 0.05), ("ce", 0.3))}
    own = Results(
        [
            record(name, labels=(truth ^ flip, truth), accuracy=1 - flip.mean())
            for name, flip in flips.items()
        ]
    )
    assert best(own) == "immax"  # though there is one run of each
    close = {"immax": flips["immax"], "ce": np.roll(flips["immax"], 1)}
    close["ce"][np.flatnonzero(~close["ce"])[0]] = True
    own = Results(
        [
            record(name, labels=(truth ^ flip, truth), accuracy=1 - flip.mean())
            for name, flip in close.items()
        ]
    )
    assert best(own) is None


def test_the_table_marks_the_surely_best_alone():
    table = mean_table(results(**SURE), "linear", "imbalanced")
    assert table.header == ["method", COLUMN]
    assert [row[1] for row in table.rows] == ["*91.00 ± 1.00", "86.00 ± 1.00", "81.33 ± 1.53"]
    unsure = mean_table(results(immax=(0.9, 0.92), ce=(0.89, 0.93)), "linear", "imbalanced")
    assert not any(row[1].startswith("*") for row in unsure.rows)


def test_the_paper_s_figures_stand_beside_ours():
    variant = Variant(kind="one_vs_rest", class_name="horse")
    runs = [record(m, variant=variant, accuracy=0.9) for m in ("hinge", "logistic")]
    table = mean_table(Results(runs), "linear", "imbalanced")
    assert table.header == ["method", "cifar10 horse", "the paper's"]
    assert [row[2] for row in table.rows] == ["90.58 ± 0.11", ""]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], "–"), ([np.nan], "–"), ([0.5], "50.00"), ([0.5, 0.6], "55.00 ± 7.07")],
)
def test_means_as_text(values, expected):
    assert format_mean(np.array(values), "accuracy") == expected


RECORDS = [
    *(record("immax", run, accuracy=0.9 + 0.01 * run, log_loss=0.2) for run in range(3)),
    *(record("ce", run, accuracy=0.85 + 0.01 * run, log_loss=0.2104) for run in range(3)),
    *(record("hinge", run, accuracy=0.8, log_loss=None) for run in range(3)),
]


def test_differences_are_paired_and_in_the_digits_of_the_metric():
    own = Results(RECORDS)
    shown = dict(difference_table(own, "linear", "imbalanced", "immax").rows)
    assert shown["ce"] == "+5.00 [+5.00, +5.00]"
    assert shown["hinge"].startswith("+11.00 [")
    losses = difference_table(own, "linear", "imbalanced", "immax", "log_loss")
    assert losses.rows[0] == ["ce", "-0.0104 [-0.0104, -0.0104]"]


def test_a_metric_that_a_method_does_not_have_is_a_dash():
    own = Results(RECORDS)
    for reference, other in (("immax", "hinge"), ("hinge", "immax")):
        rows = difference_table(own, "linear", "imbalanced", reference, "log_loss").rows
        assert dict(rows)[other] == "–"
