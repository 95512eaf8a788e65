"""A model file that tests share."""

import pytest
from commands import immax
from patients import patients


@pytest.fixture(scope="session")
def fit_command(tmp_path_factory):
    """A folder with ``train.csv`` and ``model.skops``, and the outcome of the command."""
    folder = tmp_path_factory.mktemp("fitted")
    patients().to_csv(folder / "train.csv", index=False)
    return folder, immax("fit", "train.csv", "--target", "ill", "--json", cwd=folder, check=0)


@pytest.fixture(scope="session")
def fitted(fit_command):
    """The folder alone."""
    return fit_command[0]
