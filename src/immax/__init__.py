"""Learning from imbalanced data with class-sensitive confidence margins."""

from immax.linear import BaselineClassifier, IMMAXClassifier

__all__ = ["BaselineClassifier", "IMMAXClassifier", "__version__"]

__version__ = "0.1.0"
