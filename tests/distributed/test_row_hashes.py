"""Numbers that belong to rows by their positions."""

import numpy as np
import pytest

from immax.distributed.row_hashes import fold_numbers, uniform_numbers


def test_they_depend_on_position_and_seed_alone():
    places = np.arange(10_000)
    whole = fold_numbers(places, 5)
    assert (
        np.concatenate([fold_numbers(places[:77], 5), fold_numbers(places[77:], 5)]) == whole
    ).all()
    assert (fold_numbers(places, 5, 1) != whole).mean() == pytest.approx(0.8, abs=0.03)
    assert not (uniform_numbers(places) == uniform_numbers(places, 1)).any()


def test_they_are_uniform():
    values = uniform_numbers(np.arange(100_000))
    assert (values >= 0).all()
    assert (values < 1).all()
    assert np.histogram(values, 10, (0, 1))[0] == pytest.approx(np.full(10, 10_000), rel=0.05)
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.01
    assert np.bincount(fold_numbers(np.arange(100_000), 4)) == pytest.approx(25_000, rel=0.05)
    # Folds and samples of one seed are independent.
    folds = fold_numbers(np.arange(100_000), 2)
    assert values[folds == 0].mean() == pytest.approx(0.5, abs=0.01)
