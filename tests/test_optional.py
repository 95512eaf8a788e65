"""Imports of packages that may not be installed."""

import json
import sys

import pytest

from immax.optional import optional_import


def test_the_module_is_returned():
    assert optional_import("json", "needs json") is json


def test_the_message_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^tables need pandas$"):
        optional_import("pandas", "tables need pandas")
