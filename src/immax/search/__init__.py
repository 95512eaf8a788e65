"""The choice of margins, lambda and decision rule by cross-validation."""

from immax.search.box_families import BoxFamily, SharedTailFamily
from immax.search.classifier import IMMAXClassifierCV
from immax.search.counted_family import CountedFamily
from immax.search.families import FreeFamily, PowerFamily
from immax.search.margin_family import MarginFamily
from immax.search.svc import IMMAXSVCCV
from immax.search.tuning import suggest_margins, suggest_method, tune
from immax.search.weighted_family import WeightedFamily

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
