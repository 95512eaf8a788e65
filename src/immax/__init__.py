"""Learning from imbalanced data with class-sensitive confidence margins."""

from immax.kernel import IMMAXSVC
from immax.linear import BaselineClassifier, IMMAXClassifier

__all__ = ["IMMAXSVC", "BaselineClassifier", "IMMAXClassifier", "__version__"]

__version__ = "0.1.0"
