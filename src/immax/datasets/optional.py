"""Packages that only some data sets need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["optional_import"]


def optional_import(module: str, message: str) -> Any:
    """The module, or the message that says what needs it and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(message) from error
