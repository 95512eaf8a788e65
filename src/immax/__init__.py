"""Learning from imbalanced data with class-sensitive confidence margins."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from immax.kernels.svc import IMMAXSVC
    from immax.linear import BaselineClassifier, IMMAXClassifier
    from immax.search import IMMAXSVCCV, IMMAXClassifierCV

__all__ = [
    "IMMAXSVC",
    "IMMAXSVCCV",
    "BaselineClassifier",
    "IMMAXClassifier",
    "IMMAXClassifierCV",
    "__version__",
]

__version__ = "0.2.0.dev0"

# The estimators and what they import, scikit-learn above all, are loaded when they are first used,
# so that the command answers at once.
_HOMES = {
    "BaselineClassifier": "immax.linear",
    "IMMAXClassifier": "immax.linear",
    "IMMAXClassifierCV": "immax.search",
    "IMMAXSVC": "immax.kernels.svc",
    "IMMAXSVCCV": "immax.search",
}
_MODULES = (
    "decisions",
    "kernels",
    "linear",
    "links",
    "losses",
    "margins",
    "search",
    "solvers",
    "validation",
)


def __getattr__(name: str) -> object:
    """Import a public name, or a module of the core, when it is first used."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"immax.{name}")
    raise AttributeError(f"module 'immax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
