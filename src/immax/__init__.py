"""Learning from imbalanced data with class-sensitive confidence margins."""

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
