"""Predictions for tables: chunks, unknown values, wrong columns, memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from commands import immax_here
from patients import patients

from immax.cli.folder_predictions import write_folder
from immax.cli.predictions import predict_chunks, write_predictions
from immax.io import ModelFileError, load_model


def test_chunks_are_predicted_in_order(fitted):
    fresh = patients(70, seed=3).drop(columns="ill")
    fresh.to_csv(fitted / "chunks.csv", index=False)
    file = load_model(fitted / "model.skops")
    chunks = list(predict_chunks(file, fitted / "chunks.csv", proba=True, rows=30))
    assert [len(chunk) for chunk in chunks] == [30, 30, 10]
    np.testing.assert_allclose(pd.concat(chunks), file.model.predict_proba(fresh))


@pytest.fixture(scope="module")
def budget(tmp_path_factory):
    """A folder with ``table.csv``, and a model of it that flags five rows."""
    folder = tmp_path_factory.mktemp("budget")
    patients(150).to_csv(folder / "table.csv", index=False)
    options = ("--target", "ill", "--budget", "5", "--folds", "3", "--out", "model.skops")
    immax_here("fit", "table.csv", *options, cwd=folder, check=0)
    return folder


def test_a_budget_is_that_of_the_whole_table(budget):
    file = load_model(budget / "model.skops")
    expected = file.model.predict(patients(150).drop(columns="ill"))
    assert (expected == "yes").sum() == 5
    for rows in (7, 50, 1000):
        chunks = list(predict_chunks(file, budget / "table.csv", proba=False, rows=rows))
        assert max(map(len, chunks)) <= rows
        assert pd.concat(chunks)["ill"].tolist() == expected.tolist()


def test_a_budget_is_that_of_the_whole_folder(budget, tmp_path):
    table, out = tmp_path / "parts", tmp_path / "out"
    table.mkdir()
    rows = patients(150).drop(columns="ill")
    for number in range(3):
        rows[50 * number : 50 * number + 50].to_parquet(table / f"{number}.parquet")
    write_folder(budget / "model.skops", table, False, out, 20, 2**30)
    found = [pd.read_parquet(out / f"{number}.parquet")["ill"] for number in range(3)]
    assert [len(part) for part in found] == [50, 50, 50]
    expected = load_model(budget / "model.skops").model.predict(rows)
    assert pd.concat(found).tolist() == expected.tolist()


def test_an_empty_table_and_a_budget(budget):
    patients(150).drop(columns="ill")[:0].to_csv(budget / "empty.csv", index=False)
    file = load_model(budget / "model.skops")
    (chunk,) = predict_chunks(file, budget / "empty.csv", proba=False, rows=10)
    assert (len(chunk), list(chunk.columns)) == (0, ["ill"])


def test_a_model_without_probabilities_is_refused(fitted, tmp_path):
    from sklearn.svm import LinearSVC

    from immax.io import save_model

    save_model(LinearSVC().fit([[0.0], [1.0]], [0, 1]), tmp_path / "svm.skops")
    with pytest.raises(ModelFileError, match="has no probabilities"):
        write_predictions(tmp_path / "svm.skops", fitted / "train.csv", True, None, 50)


def test_new_categories_and_missing_values_are_handled(fitted):
    fresh = patients(30, seed=2).drop(columns="ill")
    fresh["sex"] = "unheard of"
    fresh["age"] = np.nan
    fresh["extra"] = 1
    fresh.to_csv(fitted / "odd.csv", index=False)
    outcome = immax_here("predict", "model.skops", "odd.csv", "--rows", 7, cwd=fitted, check=0)
    assert outcome.stderr == (
        "immax: columns that the model does not know: 'extra'\n"
        "immax: the column 'sex' holds 30 values that are not among the categories of the model; "
        "they count as rare ones\n"
    )
    assert len(outcome.stdout.splitlines()) == 31


def test_a_table_with_other_columns_is_refused(fitted):
    fresh = patients(30).drop(columns="ill")
    fresh.rename(columns={"weight": "wieght"}).to_csv(fitted / "bad.csv", index=False)
    outcome = immax_here("predict", "model.skops", "bad.csv", cwd=fitted, check=2)
    assert "columns are missing: 'weight'; did you mean 'wieght'?" in outcome.stderr
    fresh["dose"] = "plenty"
    fresh.to_csv(fitted / "bad.csv", index=False)
    outcome = immax_here("predict", "model.skops", "bad.csv", "-o", "new.csv", cwd=fitted, check=2)
    assert "the column 'dose' must hold numbers; got 'plenty'" in outcome.stderr
    assert not (fitted / "new.csv").exists()


def test_memory_does_not_grow_with_the_file(fitted):
    """Ten times the rows, read 20,000 at a time."""
    call = (
        "import resource, sys; from immax.cli.app import app\n"
        "try: app(['predict', 'model.skops', sys.argv[1], '-o', 'out.csv', '--rows', '20000'])\n"
        "except SystemExit: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for n in (30_000, 300_000):
        rows = patients(3000, seed=1).drop(columns="ill")
        path = fitted / f"long-{n}.parquet"
        pd.concat([rows] * (n // 3000)).to_parquet(path, row_group_size=10_000)
        done = subprocess.run(
            [sys.executable, "-c", call, path.name],
            cwd=fitted,
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout) / 1024)
        assert len(pd.read_csv(fitted / "out.csv")) == n
    assert peaks[1] < peaks[0] + 60, peaks  # MiB
