"""``immax fit``, ``predict`` and ``explain``, through real processes too."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import immax, immax_here
from patients import patients

from immax.cli.models import Loss, PenaltyName
from immax.io import load_model
from immax.losses.surrogates import SURROGATES
from immax.penalties import PENALTIES


def test_fit_reports_its_choice_and_the_columns_that_it_left_out(fit_command):
    _, outcome = fit_command
    assert "left out 'note'" in outcome.stderr
    assert "left out 'patient_id'" in outcome.stderr
    assert "left out 'clinic'" in outcome.stderr
    choice = json.loads(outcome.stdout)
    assert set(choice) == {"model", "metric", "score", "power", "lam", "rule"}
    assert choice["score"] > 0.85


def test_the_model_file_describes_the_data(fitted):
    file = load_model(fitted / "model.skops")
    assert file.target == "ill"
    assert file.about["classes"] == ["no", "yes"]
    assert len(file.about["margins"]) == 2
    kinds = {column.name: column.kind for column in file.schema.columns}
    assert kinds == {
        "height": "number",
        "weight": "number",
        "age": "number",
        "dose": "number",
        "patient_id": "id",
        "sex": "category",
        "smoker": "boolean",
        "seen": "date",
        "note": "text",
        "clinic": "constant",
    }


def test_penalties_and_losses_are_those_of_the_registries():
    assert [penalty.value for penalty in PenaltyName] == list(PENALTIES)
    assert {loss.value for loss in Loss} <= set(SURROGATES)


def test_the_losses_are_those_of_the_search():
    from immax import IMMAXClassifierCV

    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.arange(40) % 4 == 0
    for loss in Loss:
        IMMAXClassifierCV(loss.value, lams=[0.1], cv=2).fit(X, y)


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "jsonl", "csv.gz"])
def test_labels_and_probabilities(fitted, form):
    fresh = patients(120, seed=1).drop(columns="ill")
    name = f"fresh.{form}"
    path = fitted / name
    if form == "parquet":
        fresh.to_parquet(path)
    elif form == "feather":
        fresh.to_feather(path)
    elif form == "jsonl":
        fresh.to_json(path, orient="records", lines=True)
    else:
        fresh.to_csv(path, index=False)
    run = immax if form == "csv" else immax_here
    run("predict", "model.skops", name, "-o", "out.csv", "--rows", "50", cwd=fitted, check=0)
    labels = pd.read_csv(fitted / "out.csv")["ill"]
    expected = load_model(fitted / "model.skops").model.predict(fresh)
    assert labels.tolist() == expected.tolist()
    call = ["predict", "model.skops", name, "--proba", "-o", "out.parquet", "--rows", "50"]
    immax_here(*call, cwd=fitted, check=0)
    proba = pd.read_parquet(fitted / "out.parquet")
    assert proba.columns.tolist() == ["p(no)", "p(yes)"]
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    shown = immax_here("predict", "model.skops", name, cwd=fitted, check=0).stdout
    assert len(shown.splitlines()) == 121
    lines = immax_here("predict", "model.skops", name, "--json", cwd=fitted, check=0).stdout
    assert [json.loads(line)["ill"] for line in lines.splitlines()] == expected.tolist()


def test_explain_as_text_and_as_json(fitted):
    shown = immax_here("explain", "model.skops", cwd=fitted, check=0).stdout
    assert "IMMAXClassifierCV of ill" in shown
    content = json.loads(
        immax_here("explain", "model.skops", "train.csv", "--json", cwd=fitted, check=0).stdout
    )
    assert content["accuracy"] > 0.85
    text = immax_here("explain", "model.skops", "train.csv", "--top", 2, cwd=fitted, check=0).stdout
    assert content["certificate"] in text
    assert len(text.split("largest coefficients\n")[1].splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("fit", "none.csv", "--target", "ill"), "there is no file", 2),
        (("fit", "train.csv", "--target", "il"), "did you mean 'ill'?", 2),
        (("fit", "train.csv"), "Missing option '--target'", 2),
        (("fit", "train.csv", "--target", "clinic"), "only one class", 2),
        (("predict", "train.csv", "train.csv"), "is not a model file", 2),
        (("predict", "none.skops", "train.csv"), "No such file", 2),
        (("explain", "train.csv"), "is not a model file", 2),
    ],
)
def test_wrong_calls_are_explained_in_one_line(fitted, arguments, message, code):
    outcome = immax_here(*arguments, cwd=fitted, check=code)
    lines = [line for line in outcome.stderr.splitlines() if "left out" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("immax: ")
    assert message in lines[0]
