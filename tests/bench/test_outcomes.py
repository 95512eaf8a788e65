"""Results of cells and of plans."""

import numpy as np
from bench_cases import cell, record

from immax.bench.outcomes import CellResult, HeldOutResult, PlanResults, Record, SurfacePoint


def test_a_result_survives_json():
    test = HeldOutResult({"accuracy": 0.5}, np.array([0, 1]), np.array([0, 0]))
    result = CellResult({"lam": 0.1}, {"imbalanced": test}, diverged=True)
    content = result.to_json()
    assert content == {
        "chosen": {"lam": 0.1},
        "tests": {"imbalanced": {"accuracy": 0.5}},
        "diverged": True,
    }
    again = CellResult.from_json(content, result.labels())
    assert again.to_json() == content
    assert again.tests["imbalanced"].predicted.tolist() == [0, 1]
    assert again.tests["imbalanced"].truth.tolist() == [0, 0]


def test_a_surface_survives_json():
    point = SurfacePoint(0.1, 0.25, 0.9, {"balanced": {"accuracy": 0.5}})
    result = CellResult(surface=(point,))
    assert "tests" not in result.to_json()
    assert CellResult.from_json(result.to_json(), {}) == result


def test_trials_have_no_labels():
    assert CellResult({}, {"held out": HeldOutResult({"accuracy": 0.5})}).labels() == {}


def test_counts_stages_and_seconds():
    records = [record("ce"), record("la"), Record(cell("rw"), "failed", error="no")]
    results = PlanResults("plan", "title", "digest", "", "", records)
    assert results.counts() == {"waiting": 0, "running": 0, "done": 2, "failed": 1}
    assert len(results.done()) == len(results.done("final")) == 2
    assert results.done("trial") == []
    assert results.seconds() == 2.0
