"""The choice of margins, lambda and decision rule by cross-validation."""

from immax.search.classifier import IMMAXClassifierCV
from immax.search.counted_family import CountedFamily
from immax.search.families import (
    BoxFamily,
    FreeFamily,
    MarginFamily,
    PowerFamily,
    SharedTailFamily,
    WeightedFamily,
)
from immax.search.svc import IMMAXSVCCV
from immax.search.tuning import suggest_margins, suggest_method, tune

__all__ = [
    "IMMAXSVCCV",
    "BoxFamily",
    "CountedFamily",
    "FreeFamily",
    "IMMAXClassifierCV",
    "MarginFamily",
    "PowerFamily",
    "SharedTailFamily",
    "WeightedFamily",
    "suggest_margins",
    "suggest_method",
    "tune",
]
