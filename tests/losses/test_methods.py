"""The registry of methods."""

import numpy as np
import pytest

from immax.losses.catalog import make_spec
from immax.losses.methods import METHODS, register_method
from immax.losses.spec import LossSpec


def test_a_method_is_one_function_with_its_row(monkeypatch):
    monkeypatch.setattr("immax.losses.methods._REGISTERED", {**METHODS})

    @register_method("Half", "-log softmax(h)_y / 2", in_paper=False, power=(0.0, 1.0))
    def half(counts, power=0.0):
        return LossSpec(np.ones(len(counts)), weight=np.full(len(counts), 0.5), name="half")

    from immax.losses.methods import _REGISTERED

    row = _REGISTERED["half"]
    assert (row.name, row.title, row.in_paper, row.revision) == ("half", "Half", False, 1)
    assert dict(row.grid) == {"power": (0.0, 1.0)}
    assert row.make is half
    assert "half" not in METHODS  # it was registered elsewhere


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        METHODS["ce"] = METHODS["immax"]
    with pytest.raises(ValueError, match=r"method must be one of immax, ce, .*; got 'none'"):
        make_spec("none", [1, 2])
