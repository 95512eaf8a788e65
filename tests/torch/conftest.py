"""Fixtures of the PyTorch tests; without PyTorch all of them are skipped."""

import pytest

torch = pytest.importorskip("torch")

import process_cases  # noqa: E402
from torch.multiprocessing import spawn  # noqa: E402
from torch_cases import COUNTS, make  # noqa: E402

from immax.losses import catalog  # noqa: E402
from immax.torch import routes  # noqa: E402


@pytest.fixture(scope="session")
def ranks(tmp_path_factory):
    """What each of two processes has computed, in all cases of ``process_cases``."""
    folder = tmp_path_factory.mktemp("processes")
    spawn(process_cases.run, (str(folder),), nprocs=2)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(2)]


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
    monkeypatch.setattr(routes, "MOST_QUICK", 0)
    fewest = 2**60 if request.param == "composite" else 0
    for name in ("FEWEST_ENTRIES", "FEWEST_ENTRIES_OF_MANY_OPERATIONS"):
        monkeypatch.setattr(routes, name, fewest)
    if request.param == "compiled":
        pytest.importorskip("numba")
    if request.param == "operations":
        monkeypatch.setattr(routes, "has_numba", lambda: False)
    return request.param
