"""The sections of a plan: data, imbalance and training; ``Selection`` is the fourth."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TRAINING", "DataPlan", "ImbalancePlan", "TrainingPlan"]

TRAINING = "training"
"""The name of the training set among the test sets."""


@dataclass(frozen=True)
class DataPlan:
    """Which data sets are used, and where their features come from.

    Parameters
    ----------
    names : tuple of str
        Data sets, such as "cifar10" or "keel".
    sets : tuple of str, default=()
        Data sets of the collections "keel" and "multiclass"; all of a collection if none of its
        own are named.
    path, target : str, default=""
        The file of a table, and the column with its labels.
    features : tuple of str, default=("pixels",)
        "pixels" or "patches": one kind for all data sets, or one for each.
    patches : int, default=600
        The number of random patches, pooled over four quadrants with both signs.
    share : float, default=1.0
        The share of every class that is kept, before any imbalance.
    folds : int, default=5
        Outer folds, for data without a test set.
    size : int, default=0
        Images are reduced to this many pixels on a side by averages over squares; 0 leaves them
        as they are.
    max_rows : int, default=0
        Data sets of collections with more rows are reduced to this many, drawn at random from
        every class, at least ten of each; 0 for no limit.
    """

    names: tuple[str, ...]
    sets: tuple[str, ...] = ()
    path: str = ""
    target: str = ""
    features: tuple[str, ...] = ("pixels",)
    patches: int = 600
    share: float = 1.0
    folds: int = 5
    max_rows: int = 0
    size: int = 0


@dataclass(frozen=True)
class ImbalancePlan:
    """How the data are made imbalanced, and on which test sets methods are evaluated.

    Parameters
    ----------
    kind : {"none", "long_tailed", "step", "one_vs_rest"}, default="none"
    ratios : tuple of float, default=(1.0,)
        Ratios of the largest class to the smallest.
    minority : float, default=0.5
        The share of classes that are rare, for "step".
    classes : tuple of str, default=()
        The positive classes, for "one_vs_rest".
    tests : tuple of str, default=("imbalanced",)
        "imbalanced" has the class shares of the training set, "balanced" the samples of all
        classes, "weighted" is the balanced one with the weights that give its classes the shares
        of the training set, and "training" is the training set itself.
    """

    kind: str = "none"
    ratios: tuple[float, ...] = (1.0,)
    minority: float = 0.5
    classes: tuple[str, ...] = ()
    tests: tuple[str, ...] = ("imbalanced",)


@dataclass(frozen=True)
class TrainingPlan:
    """How networks are trained: SGD with Nesterov momentum and a cosine schedule.

    Parameters
    ----------
    epochs : int, default=200
    batch_size : int, default=1024
    lr, momentum, weight_decay : float
    warmup : int, default=0
        Epochs in which the learning rate grows linearly.
    clip : float, default=0.0
        The largest norm of a gradient; 0 for no limit.
    augment : {"none", "crop", "crop_flip"}, default="none"
    pad : int, default=4
        Pixels of padding before a crop.
    precision : {"float32", "bfloat16"}, default="float32"
    channels_last, compile : bool
        Options of PyTorch.
    checkpoint_every : int, default=1
        Epochs between checkpoints.
    """

    epochs: int = 200
    batch_size: int = 1024
    lr: float = 0.2
    momentum: float = 0.9
    weight_decay: float = 1e-3
    warmup: int = 0
    clip: float = 0.0
    augment: str = "none"
    pad: int = 4
    precision: str = "float32"
    channels_last: bool = True
    compile: bool = False
    checkpoint_every: int = 1
