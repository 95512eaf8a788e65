"""Skips the whole folder where PyTorch is not installed; what its tests share."""

import pytest

torch = pytest.importorskip("torch")

from torch_cases import COUNTS, make  # noqa: E402

from immax.losses import catalog  # noqa: E402
from immax.torch import few_passes  # noqa: E402


@pytest.fixture(params=list(catalog.METHODS))
def spec(request):
    return make(request.param)


@pytest.fixture
def batch():
    """Scores in double precision, labels, and a seed for the draws."""
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(12, COUNTS.size, generator=generator, dtype=torch.float64)
    target = torch.randint(0, COUNTS.size, (12,), generator=generator)
    return logits, target


@pytest.fixture(params=["composite", "compiled", "operations"])
def route(request, monkeypatch):
    """Each of the ways in which a loss can be computed, whatever the size."""
    large = request.param == "composite"
    for name in ("FEWEST_ENTRIES", "FEWEST_OF_MANY_STEPS"):
        monkeypatch.setattr(few_passes, name, 2**60 if large else 0)
    if request.param == "compiled":
        pytest.importorskip("numba")
    if request.param == "operations":
        monkeypatch.setattr(few_passes, "has_numba", lambda: False)
    return request.param
