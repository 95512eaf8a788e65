"""``immax export`` through real processes: its file predicts what ``immax predict`` does."""

import numpy as np
import pandas as pd
import pytest
from commands import immax, immax_here
from onnx_models import run

from immax.io import load_model

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")


def test_the_exported_model_predicts_the_same(fitted):
    immax("export", "model.skops", "-o", "model.onnx", cwd=fitted, check=0)
    model = load_model(fitted / "model.skops").model
    table = pd.read_csv(fitted / "train.csv").drop(columns="ill")
    typed = model[0].transform(table)
    inputs = {
        name: typed[[name]].to_numpy(object if typed[name].dtype == object else float)
        for name in typed
    }
    found = run(onnx.load(fitted / "model.onnx"), inputs)
    np.testing.assert_array_equal(found["label"], model.predict(table))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(table), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "none.skops"), "No such file"),
        (("export", "model.skops", "-o", "model.bin"), "the ending .onnx"),
        (("export", "train.csv"), "is not a model file"),
    ],
)
def test_wrong_calls_are_explained_in_one_line(fitted, arguments, message):
    outcome = immax_here(*arguments, cwd=fitted, check=2)
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
