"""The values of the penalty's strength."""

import numpy as np
import pytest

from immax.search.penalty_grids import penalty_grid


def test_grids_of_penalties():
    np.testing.assert_array_equal(penalty_grid("Cs", [3, 1, 3], np.ones(1)), [1, 3])
    np.testing.assert_array_equal(penalty_grid("Cs", None, np.ones(1)), [1])
    with pytest.raises(ValueError, match="Cs is empty"):
        penalty_grid("Cs", [], np.ones(1))
    with pytest.raises(ValueError, match=r"Cs must be positive, finite numbers; got \[1.0, inf\]"):
        penalty_grid("Cs", [1, np.inf], np.ones(1))
