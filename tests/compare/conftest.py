"""A comparison that tests share."""

import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, compare


@pytest.fixture(scope="session")
def comparison():
    """Three methods on two repeats of four folds."""
    protocol = Protocol(folds=4, repeats=2)
    return compare(*mixed_table(), methods=["weights", "immax", "svm"], protocol=protocol)
