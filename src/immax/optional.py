"""Imports of packages that only some functions need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["optional_import"]


def optional_import(module: str, message: str) -> ModuleType:
    """Import a module that may not be installed.

    Parameters
    ----------
    module : str
        The name of the module.
    message : str
        What needs it and how to install it.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        With the message, if the module cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(message) from error
