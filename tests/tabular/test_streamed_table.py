"""Tables in batches, against the same tables in memory."""

import numpy as np
import pandas as pd
import pytest

from immax.distributed.row_hashes import fold_numbers
from immax.tabular import prepare, read_training_table, streamed_table
from immax.tabular.streamed_table import open_streamed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_table, "BATCH_CELLS", 1)
    rng = np.random.default_rng(0)
    n = 4000
    age = rng.normal(40, 10, n)
    age[rng.random(n) < 0.1] = np.nan
    names = np.array([f"city {i:03}" for i in range(90)], dtype=object)
    city = names[np.minimum(rng.geometric(0.05, n) - 1, 89)]
    city[rng.random(n) < 0.05] = None
    frame = pd.DataFrame(
        {
            "age": age,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "city": city,
            "paid": rng.random(n) < 0.3,
            "y": np.where(rng.random(n) < 0.2, "yes", "no"),
        }
    )
    path = tmp_path / "table"
    path.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(n), 3)):
        frame.iloc[rows].to_parquet(path / f"{number}.parquet")
    return path


def test_the_pipeline_is_that_of_all_rows(folder):
    table = open_streamed(folder, "y")
    known = read_training_table(folder, "y")
    assert table.schema == known.schema
    assert table.n_rows == 4000
    pipeline, counts = table.fit_pipeline()
    assert counts == known.y.value_counts().to_dict()
    expected = prepare(known.schema).fit(known.X)
    assert pipeline["features"].variables_.tolist() == expected["features"].variables_.tolist()
    assert list(pipeline.get_feature_names_out()) == list(expected.get_feature_names_out())
    features = expected.transform(known.X)
    np.testing.assert_allclose(pipeline.transform(known.X), features, atol=1e-12)
    parts = list(table.read_parts(pipeline))
    assert len(parts) > 3
    np.testing.assert_allclose(np.concatenate([part.X for part in parts]), features, atol=1e-12)
    assert np.concatenate([part.y for part in parts]).tolist() == known.y.tolist()


def test_the_pipelines_of_folds_are_those_of_their_training_rows(folder):
    table, known = open_streamed(folder, "y"), read_training_table(folder, "y")
    found = table.fit_fold_pipelines(3, seed=5)
    folds = fold_numbers(np.arange(4000), 3, 5)
    assert found.classes[found.codes].tolist() == known.y.tolist()
    for fold, pipeline in enumerate(found.training):
        expected = prepare(known.schema).fit(known.X[folds != fold])
        features = expected.transform(known.X)
        np.testing.assert_allclose(pipeline.transform(known.X), features, atol=1e-12)
    features = prepare(known.schema).fit_transform(known.X)
    np.testing.assert_allclose(found.whole.transform(known.X), features, atol=1e-12)


def test_what_is_refused(folder, tmp_path):
    with pytest.raises(ValueError, match="has no column 'z'"):
        open_streamed(folder, "z")
    csv = tmp_path / "table.csv"
    csv.write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(ValueError, match="must be a Parquet file or folder to be streamed"):
        open_streamed(csv, "y")
