"""What weights raise that a scorer does not ask for."""

from contextlib import AbstractContextManager, nullcontext

import pytest
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, make_scorer

# Scorers of scikit-learn 1.6 have no weights to ask for unless they were told to: they get none.
SCORERS_ASK = "sample_weight" in make_scorer(accuracy_score).get_metadata_routing().score.requests


def refusing_weights() -> AbstractContextManager:
    """Return a context in which weights that a scorer does not ask for are an error."""
    if SCORERS_ASK:
        return pytest.raises(UnsetMetadataPassedError, match="sample_weight")
    return nullcontext()
