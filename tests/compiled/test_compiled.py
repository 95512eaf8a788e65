"""When compiled kernels are used."""

import pytest

from immax import compiled

pytest.importorskip("numba")


def test_small_work_and_a_missing_numba_are_left_to_numpy(monkeypatch):
    assert not compiled.worth_compiling(compiled.SMALLEST_WORK - 1)
    assert compiled.worth_compiling(compiled.SMALLEST_WORK)
    monkeypatch.setattr(compiled, "has_numba", lambda: False)
    assert not compiled.worth_compiling(compiled.SMALLEST_WORK)
