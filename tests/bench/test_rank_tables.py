"""Ranks over data sets, and tests against a reference."""

from dataclasses import replace

import numpy as np
import pytest
from bench_cases import record

from immax.bench.cells import Variant
from immax.bench.rank_tables import rank_table
from immax.bench.results import Results
from immax.evaluation.statistics import compare_to, friedman, holm

SETS = 20


def results(metric="accuracy", **values):
    """A value for each data set, in two folds around it."""
    return Results(
        [
            record(method, variant=Variant(set_name=f"set {i}", fold=fold), **{metric: value})
            for method, own in values.items()
            for i, mean in enumerate(own)
            for fold, value in enumerate((mean - 0.01, mean + 0.01))
        ]
    )


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.7, 0.8, SETS)
    return {
        "ce": base,
        "immax": base + 0.05 + rng.normal(0, 0.01, SETS),
        "rw": base - 0.1,
        "la": base + rng.normal(0, 0.01, SETS),
    }


def ranked(own, metric="accuracy", reference="ce"):
    return rank_table(own, "linear", "imbalanced", metric, reference)


def test_methods_are_ranked_and_compared_with_the_reference(values):
    found = ranked(results(**values))
    assert found.methods[0] == "immax"
    assert found.methods[-1] == "rw"
    assert found.ranks[0] == pytest.approx(1.0)
    assert found.ranks[-1] == pytest.approx(4.0)
    assert found.ranks.sum() == pytest.approx(1 + 2 + 3 + 4)
    assert found.friedman_p == pytest.approx(friedman(np.column_stack(list(values.values()))))
    rows = {row[0]: row for row in found.table.rows}
    assert rows["immax"][1] == f"{100 * values['immax'].mean():.2f}"
    assert rows["immax"][3] == f"{SETS}/0/0"
    assert rows["rw"][3] == f"0/0/{SETS}"
    assert rows["ce"][3:] == ["", "", ""]


def test_p_values_are_wilcoxon_s_with_holm_s_correction(values):
    others = ("immax", "rw", "la")
    p = [compare_to(values[name], values["ce"]).p for name in others]
    rows = {row[0]: row for row in ranked(results(**values)).table.rows}
    for name, own, corrected in zip(others, p, holm(p), strict=True):
        assert float(rows[name][4]) == pytest.approx(own, rel=0.5 if own < 1e-3 else 0.05)
        assert float(rows[name][5]) == pytest.approx(corrected, rel=0.5 if own < 1e-3 else 0.05)
    assert float(rows["rw"][4]) < 0.001
    assert float(rows["la"][5]) > 0.05


def test_lower_is_better_for_log_loss(values):
    found = ranked(results(metric="log_loss", **values), "log_loss")
    assert found.methods[0] == "rw"
    assert found.methods[-1] == "immax"
    rows = {row[0]: row for row in found.table.rows}
    assert rows["rw"][3] == f"{SETS}/0/0"
    assert rows["immax"][3] == f"0/0/{SETS}"


def test_ties_share_their_rank(values):
    found = ranked(results(ce=values["ce"], la=values["ce"].copy(), rw=values["rw"]))
    assert found.ranks.tolist() == [1.5, 1.5, 3.0]
    assert {row[0]: row[3] for row in found.table.rows}["la"] == f"0/{SETS}/0"


def test_a_method_that_lacks_the_metric_somewhere_is_left_out(values):
    values["la"][3] = np.nan
    found = ranked(results(**values))
    assert "la" not in found.methods
    assert found.ranks.max() == pytest.approx(3.0)
    assert (
        found.left_out
        == f"Left out: methods that are not finished: la ({SETS - 1} of {SETS} data sets)."
    )
    shorter = results(**values | {"la": values["ce"][:-1]})
    assert "la" not in ranked(shorter).methods


def test_a_method_that_lacks_a_fold_is_left_out(values):
    whole = results(**values)
    lacking = [one for one in whole.records if one.cell.method == "la"][-1]
    found = ranked(Results([one for one in whole.records if one is not lacking]))
    assert sorted(found.methods) == ["ce", "immax", "rw"]
    assert f"la ({SETS - 1} of {SETS} data sets)" in found.left_out
    assert ranked(whole).left_out == ""


def test_data_sets_that_few_methods_have_finished_are_left_out(values):
    whole = results(**values).records
    begun = [one for one in results(ce=np.append(values["ce"], 0.5)).records if one not in whole]
    found = ranked(Results([*whole, *begun[-2:]]))
    assert found.n_sets == SETS
    assert len(found.methods) == 4
    assert found.left_out == f"Left out: data sets that few methods have finished (set {SETS})."


def test_of_two_methods_both_must_have_finished_a_data_set(values):
    found = ranked(results(ce=values["ce"], immax=values["immax"][:-1]))
    assert sorted(found.methods) == ["ce", "immax"]
    assert found.n_sets == SETS - 1
    assert f"(set {SETS - 1})" in found.left_out


def test_all_models_have_the_same_folds(values):
    """A fold that no method of a model has finished is missing all the same."""
    whole = results(**values).records
    others = [replace(one, cell=replace(one.cell, model="trees")) for one in whole]
    lacking = {(f"set {SETS - 1}", 1)}
    begun = [
        one for one in others if (one.cell.variant.set_name, one.cell.variant.fold) not in lacking
    ]
    found = rank_table(Results([*whole, *begun]), "trees", "imbalanced", "accuracy", "ce")
    assert found.n_sets == SETS - 1
    assert len(found.methods) == 4


def test_without_the_reference_nothing_is_compared(values):
    found = ranked(results(**values), reference="xgb")
    assert all(row[3:] == ["", "", ""] for row in found.table.rows)
    empty = ranked(results(metric="accuracy", **values), metric="log_loss")
    assert (empty.methods, empty.ranks.size) == ([], 0)
