"""Descriptions of model files."""

import numpy as np
import pytest
from mixed_table import mixed_table
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from immax.cli.description import describe_model, description_text
from immax.io import load_model, save_model
from immax.margins import theory_margins
from immax.tabular import describe_columns, prepare
from immax.theory.descriptions import NO_CERTIFICATE


@pytest.fixture(scope="module")
def description(fitted):
    return describe_model(load_model(fitted / "model.skops"), fitted / "train.csv")


def test_margins_and_the_threshold(description):
    rho = np.array(description["margins"])
    assert description["threshold"] == pytest.approx(rho[1] / rho.sum())
    # The theory's margins are on the scale of the model's.
    expected = theory_margins(description["counts"], total=rho.sum())
    np.testing.assert_allclose(description["theory"], expected)
    assert sum(description["theory"]) == pytest.approx(rho.sum())


def test_counts_are_those_of_the_table(description, fitted):
    assert description["classes"] == ["no", "yes"]
    assert description["counts"][0] > description["counts"][1]
    assert sum(description["counts"]) == 400
    alone = describe_model(load_model(fitted / "model.skops"))
    assert alone["counts"] == description["counts"]
    assert "accuracy" not in alone


def test_coefficients_have_the_names_of_the_features(description):
    assert any(name.endswith("height") for name in description["coefficients"])
    assert description["gap"] >= 0
    assert (
        "Condition: the features were not computed from these samples"
        in (description["certificate"])
    )
    assert "From a split of the data:" in description["certificate"]


def test_the_text(description):
    text = description_text(description, top=3)
    assert text.startswith("IMMAXClassifierCV of ill\naccuracy ")
    assert "yes is predicted when its probability exceeds the threshold" in text
    assert f"{description['threshold']:.4f}" in text
    assert "margin   samples    theory" in text
    assert len(text.split("largest coefficients\n")[1].splitlines()) == 3
    assert "largest coefficients" not in description_text(description, top=0)


@pytest.mark.parametrize(
    ("model", "certified"),
    [(LogisticRegression(), True), (GaussianNB(), False)],
    ids=["linear", "naive Bayes"],
)
def test_a_model_without_margins_is_described_too(tmp_path, model, certified):
    X, y = mixed_table(150)
    pipeline = Pipeline([*prepare(describe_columns(X)).steps, ("model", model)]).fit(X, y)
    counts = np.unique(y, return_counts=True)[1]
    save_model(pipeline, tmp_path / "plain.skops", target="kind", counts=counts)
    X.assign(kind=y).to_csv(tmp_path / "table.csv", index=False)
    plain = describe_model(load_model(tmp_path / "plain.skops"), tmp_path / "table.csv")
    assert "margins" not in plain
    assert "threshold" not in plain
    assert ("coefficients" in plain) == certified
    assert sum(plain["theory"]) == pytest.approx(2)  # of mean one
    assert (plain["certificate"] != NO_CERTIFICATE) == certified
    assert description_text(plain).startswith(f"{type(model).__name__} of kind\n")
