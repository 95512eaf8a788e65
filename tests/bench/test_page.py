"""Pages of results."""

import pytest
from bench_cases import record

from immax.bench.cells import Variant
from immax.bench.outcomes import CellResult, PlanResults, Record, SurfacePoint
from immax.bench.page import write_page


def page(records, folder, **options):
    results = PlanResults("plan", "A title", "digest", "abc", "2026-01-01", records)
    given = {"command": "", "words": None, "reference": "immax"} | options
    write_page(results, folder / "page.md", **given)
    return (folder / "page.md").read_text()


def runs(n_sets=1):
    return [
        record(method, run, Variant(set_name=f"set {i}", fold=0), accuracy=0.5 + gain + 0.01 * i)
        for method, gain in (("immax", 0.1), ("ce", 0.0))
        for run in range(2)
        for i in range(n_sets)
    ]


def test_the_head_of_a_page(tmp_path):
    (tmp_path / "words.md").write_text("Nothing was found.\n")
    waiting = Record(record("la").cell, "waiting")
    text = page(
        [*runs(), waiting], tmp_path, command="immax bench run", words=tmp_path / "words.md"
    )
    assert text.startswith(
        "# A title\n\n    immax bench run\n\n"
        "Commit abc, 2026-01-01. 4 of 5 cells, 0.0 hours of work.\n\nNothing was found.\n\n"
        "## Accuracy\n\nlinear, imbalanced test, accuracy:\n\n| method | set 0 |\n"
    )
    assert "Log loss" not in text  # which no method has


def test_many_data_sets_are_ranked_with_a_picture(tmp_path):
    text = page(runs(12), tmp_path)
    assert "linear, accuracy, 12 data sets (Friedman p = " in text
    assert "![Mean ranks](page-linear-accuracy.svg)" in text
    assert (tmp_path / "page-linear-accuracy.svg").stat().st_size > 1000


def test_surfaces_have_tables_and_a_picture(tmp_path):
    points = tuple(
        SurfacePoint(lam, power, 0.9, {"balanced": {"accuracy": 0.5 + power, "log_loss": 1.0}})
        for lam in (0.1, 0.01)
        for power in (0.0, 0.5)
    )
    text = page([Record(record("immax").cell, "done", CellResult(surface=points))], tmp_path)
    assert "| λ | training error, % | t = 0.00 | t = 0.50 | best t: gain over t = 0 |" in text
    assert "balanced test, log_loss, 1 runs" in text
    assert (tmp_path / "page-accuracy.svg").stat().st_size > 1000


@pytest.mark.parametrize("commit", ["", "abc"])
def test_the_commit_may_be_unknown(tmp_path, commit, monkeypatch):
    monkeypatch.setattr("immax.bench.provenance.describe_commit", lambda: "")
    results = PlanResults("plan", "A title", "digest", commit, "2026-01-01", runs())
    write_page(results, tmp_path / "page.md", "", None, "immax")
    expected = "Commit abc, 2026-01-01." if commit else "Not from a repository, 2026-01-01."
    assert expected in (tmp_path / "page.md").read_text()
