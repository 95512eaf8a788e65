"""The layout of ``results.json``."""

import json

import numpy as np
import pytest

from immax.compare import answer
from immax.compare.results_json import ResultsContent, make_results, results_text


@pytest.fixture(scope="module")
def results(comparison):
    return make_results(
        comparison,
        answer(comparison),
        source="parcels.csv",
        target="state",
        command="immax compare parcels.csv",
        seconds=12.5,
        seconds_refit=1.5,
    )


def test_the_keys_are_those_that_programs_rely_on(results):
    assert set(results) == set(ResultsContent.__annotations__)
    assert list(results)[:5] == ["format", "metric", "rows", "recommended", "sentence"]
    assert results["format"] == 1
    assert results["protocol"] == {"metric": "accuracy", "folds": 4, "repeats": 2, "seed": 0}
    assert set(results["data"]) == {"source", "target", "rows", "classes", "columns"}
    assert set(results["rows"][0]) == {
        *("name", "title", "measures", "deviation"),
        *("gain", "low", "high", "p", "seconds", "value_low", "value_high"),
    }


def test_the_values_are_those_of_the_comparison(results, comparison):
    assert results["data"]["rows"] == 240
    assert results["data"]["classes"] == {
        "no": int((comparison.codes == 0).sum()),
        "yes": int((comparison.codes == 1).sum()),
    }
    assert results["folds"]["immax"] == list(comparison.scores("immax"))
    assert len(results["chosen"]["immax"]) == 8
    assert (results["seconds"], results["seconds_refit"]) == (12.5, 1.5)
    total = sum(one.seconds for own in comparison.fold_results.values() for one in own)
    assert results["seconds_folds"] == pytest.approx(total)


def test_the_text_is_json(results):
    assert json.loads(results_text(results)) == json.loads(results_text(results, indent=1))
    again = json.loads(results_text(results))
    assert again["sentence"] == results["sentence"]
    assert "\n" not in results_text(results)
    assert np.isfinite([row["gain"] for row in again["rows"]]).all()
