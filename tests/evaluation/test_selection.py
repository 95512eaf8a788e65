"""The defaults of the selection of hyper-parameters."""

import dataclasses

import numpy as np
import pytest

from immax.evaluation.selection import LAMS, POWERS, Selection


def test_the_grids_are_even_and_include_equal_margins():
    np.testing.assert_allclose(np.diff(np.log10(LAMS)), 1)
    np.testing.assert_allclose(np.diff(POWERS), POWERS[1] - POWERS[0])
    assert 0.0 in POWERS
    assert all(type(value) is float for value in (*LAMS, *POWERS))  # they are stored as JSON


def test_a_selection_is_frozen_and_uses_all_folds_by_default():
    selection = Selection()
    assert (selection.folds, selection.use_folds, selection.trials) == (5, 0, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        selection.folds = 3
