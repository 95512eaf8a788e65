"""``immax fit``, ``predict``, ``explain`` and ``margins``, through real processes too."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from commands import immax, immax_here
from sklearn.datasets import make_classification

from immax.io import load_model


def table(n=400, seed=0):
    X, y = make_classification(
        n, 4, n_informative=3, n_redundant=0, weights=[0.85], class_sep=1.5, random_state=seed
    )
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=["height", "weight", "age", "dose"])
    frame["patient_id"] = np.arange(1000, 1000 + n)
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["smoker"] = rng.random(n) < 0.3
    frame["seen"] = pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")
    frame["note"] = [f"patient number {i} said a great deal of things that day" for i in range(n)]
    frame["clinic"] = "north"
    frame.loc[::11, "age"] = np.nan
    frame.loc[::13, "sex"] = None
    frame["ill"] = np.where(y == 1, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    table().to_csv(folder / "train.csv", index=False)
    found = immax("fit", "train.csv", "--target", "ill", "--json", cwd=folder, check=0)
    assert "left out 'note'" in found.stderr
    assert "left out 'patient_id'" in found.stderr
    assert "left out 'clinic'" in found.stderr
    assert json.loads(found.stdout)["score"] > 0.85
    return folder


def test_the_file_says_what_it_was_fitted_to(fitted):
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


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "jsonl", "csv.gz"])
def test_labels_and_probabilities(fitted, form):
    fresh = table(120, seed=1).drop(columns="ill")
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


def test_memory_does_not_grow_with_the_file(fitted):
    """Ten times the rows, read 20,000 at a time."""
    call = (
        "import resource, sys; from immax.cli.app import app\n"
        "try: app(['predict', 'model.skops', sys.argv[1], '-o', 'long.out', '--rows', '20000'])\n"
        "except SystemExit: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for n in (30_000, 300_000):
        rows = table(3000, seed=1).drop(columns="ill")
        path = fitted / f"long-{n}.parquet"
        pd.concat([rows] * (n // 3000)).to_parquet(path, row_group_size=10_000)
        said = subprocess.run(
            [sys.executable, "-c", call, path.name],
            cwd=fitted,
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(said.stdout) / 1024)
        assert len(pd.read_csv(fitted / "long.out")) == n
    assert peaks[1] < peaks[0] + 60, peaks  # MiB


def test_new_categories_and_missing_values_are_handled(fitted):
    fresh = table(30, seed=2).drop(columns="ill")
    fresh["sex"] = "unheard of"
    fresh["age"] = np.nan
    fresh["extra"] = 1
    fresh.to_csv(fitted / "odd.csv", index=False)
    found = immax_here("predict", "model.skops", "odd.csv", "--rows", 7, cwd=fitted, check=0)
    assert found.stderr == "immax: columns that the model does not know: 'extra'\n"
    assert len(found.stdout.splitlines()) == 31


def test_a_table_of_other_columns_is_refused(fitted):
    fresh = table(30).drop(columns="ill")
    fresh.rename(columns={"weight": "wieght"}).to_csv(fitted / "bad.csv", index=False)
    found = immax_here("predict", "model.skops", "bad.csv", cwd=fitted, check=2)
    assert "columns are missing: 'weight'; did you mean 'wieght'?" in found.stderr
    fresh["dose"] = "plenty"
    fresh.to_csv(fitted / "bad.csv", index=False)
    found = immax_here("predict", "model.skops", "bad.csv", "-o", "bad.out", cwd=fitted, check=2)
    assert "the column 'dose' must hold numbers; got 'plenty'" in found.stderr
    assert not (fitted / "bad.out").exists()


def test_explanations(fitted):
    shown = immax_here("explain", "model.skops", cwd=fitted, check=0).stdout
    assert "IMMAXClassifierCV of ill" in shown
    assert "threshold" in shown
    assert "samples    theory" in shown
    content = json.loads(
        immax_here("explain", "model.skops", "train.csv", "--json", cwd=fitted, check=0).stdout
    )
    assert content["counts"][0] > content["counts"][1]
    assert sum(content["theory"]) == pytest.approx(1)
    assert content["accuracy"] > 0.85
    assert "certificate" in content
    assert immax_here("explain", "model.skops", "train.csv", cwd=fitted, check=0).stdout


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("fit", "none.csv", "--target", "ill"), "there is no file", 2),
        (("fit", "train.csv", "--target", "il"), "did you mean 'ill'?", 2),
        (("fit", "train.csv"), "Missing option '--target'", 2),
        (("fit", "train.csv", "--target", "clinic"), "at least two classes", 1),
        (("predict", "train.csv", "train.csv"), "is not a model file", 2),
        (("predict", "none.skops", "train.csv"), "No such file", 2),
        (("explain", "train.csv"), "is not a model file", 2),
        (("margins",), "Missing argument", 2),
        (("margins", "10", "0"), "counts", 2),
    ],
)
def test_wrong_calls(fitted, arguments, message, code):
    found = immax_here(*arguments, cwd=fitted, check=code)
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_margins(tmp_path):
    content = json.loads(
        immax_here("margins", "5000", "500", "50", "--json", cwd=tmp_path, check=0).stdout
    )
    expected = np.cbrt([5000, 500, 50]) / np.cbrt([5000, 500, 50]).mean()
    np.testing.assert_allclose(content["margins"], expected)
    shown = immax_here("margins", "900", "100", cwd=tmp_path, check=0).stdout
    assert "class 1 is said where its probability is above" in shown
