"""Comparisons on streamed tables; tests/cli/test_comparison_data.py runs them by the command."""

import numpy as np
import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, answer, compare_streamed, refit_all
from immax.errors import WrongCall
from immax.tabular.streamed_table import open_streamed


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("streaming") / "table.parquet"
    X, y = mixed_table(400, 3)
    X.assign(y=y, number=np.arange(400.0)).to_parquet(path)
    return open_streamed(path, "y")


def test_the_comparison_of_a_streamed_table(table, tmp_path):
    protocol = Protocol("log_loss", folds=2, search_rows=200)
    methods = ["weights", "immax_hinge", "threshold", "immax_svc", "xgb"]
    comparison = compare_streamed(table, methods=methods, protocol=protocol, keep=tmp_path)
    assert comparison.complete == ["logistic", "weights"]
    assert comparison.left_out["threshold"] == "for two classes only"
    assert "needs all rows in memory" in comparison.left_out["xgb"]
    assert comparison.counts.sum() == 400
    assert [row.name for row in answer(comparison).rows] == ["logistic", "weights"]
    assert len(list(tmp_path.rglob("*.npz"))) == 4
    models = refit_all(comparison, ["logistic", "weights"])
    X, y = mixed_table(400, 3)
    for model in models.values():
        assert model.score(X.assign(number=0.0), y) > 0.6
        assert set(model.classes_) == {"no", "yes", "perhaps"}


def test_a_target_of_numbers_is_refused(table):
    numbers = open_streamed(table.file.path, "number")
    with pytest.raises(WrongCall, match="is it a number rather than a class"):
        compare_streamed(numbers)
