"""Fixtures of the PyTorch tests; without PyTorch all of them are skipped."""

import pytest

torch = pytest.importorskip("torch")

from torch_cases import COUNTS, make  # noqa: E402

from immax.losses import catalog  # noqa: E402
from immax.torch import quick, routes  # noqa: E402


@pytest.fixture(params=list(catalog.METHODS))
def spec(request):
    return make(request.param)


@pytest.fixture
def batch():
    """Scores in double precision, and labels."""
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(12, COUNTS.size, generator=generator, dtype=torch.float64)
    target = torch.randint(0, COUNTS.size, (12,), generator=generator)
    return logits, target


@pytest.fixture(params=["composite", "compiled", "operations"])
def route(request, monkeypatch):
    """Each of the routes by which a loss can be computed, whatever the size."""
    monkeypatch.setattr(quick, "MOST_ENTRIES", 0)
    fewest = 2**60 if request.param == "composite" else 0
    for name in ("FEWEST_ENTRIES", "FEWEST_ENTRIES_OF_MANY_OPERATIONS"):
        monkeypatch.setattr(routes, name, fewest)
    if request.param == "compiled":
        pytest.importorskip("numba")
    if request.param == "operations":
        monkeypatch.setattr(routes, "has_numba", lambda: False)
    return request.param
