"""Preprocessing made of statistics, against the same fitted to the rows."""

import numpy as np
import pandas as pd

from immax.tabular import describe_columns, prepare
from immax.tabular.column_statistics import ColumnStatistics
from immax.tabular.fitted_preparation import fit_preparation


def test_statistics_give_the_preparation_of_the_rows():
    rng = np.random.default_rng(0)
    numbers = rng.normal(5, 2, 600)
    numbers[::7] = np.nan
    names = np.array([f"n{i:02}" for i in range(80)], dtype=object)
    frame = pd.DataFrame(
        {
            "number": numbers,
            "same": [1.0, 1.0, 2.0] * 200,
            "name": names[np.minimum(rng.geometric(0.06, 600) - 1, 79)],
        }
    )
    schema = describe_columns(frame)
    expected = prepare(schema).fit(frame)
    typed = expected["types"].transform(frame)
    statistics = ColumnStatistics(schema.named("number"), schema.named("category"))
    for begin in range(0, 600, 90):
        statistics.add(typed.iloc[begin : begin + 90])
    found = fit_preparation(schema, statistics)
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    np.testing.assert_allclose(found.transform(frame), expected.transform(frame), atol=1e-12)
