"""Data sets, and subsamples of them with imbalanced classes."""

from immax.datasets.cache import cache_dir
from immax.datasets.cifar import load_cifar10, load_cifar100
from immax.datasets.download import fetch
from immax.datasets.idx import load_fashion_mnist, load_mnist
from immax.datasets.images import ImageData
from immax.datasets.imbalance import (
    class_shares,
    keep_shares,
    long_tailed,
    step_imbalanced,
    subset,
)
from immax.datasets.keel import keel_names, load_keel
from immax.datasets.multiclass import load_multiclass, multiclass_names
from immax.datasets.page_blocks import load_page_blocks
from immax.datasets.registry import load_images
from immax.datasets.synthetic import (
    SphericalMixture,
    gaussian_mixture,
    separable_pair,
    sparse_text,
)
from immax.datasets.tables import read_chunks, read_frame, read_table
from immax.datasets.tiny_imagenet import load_tiny_imagenet

__all__ = [
    "ImageData",
    "SphericalMixture",
    "cache_dir",
    "class_shares",
    "fetch",
    "gaussian_mixture",
    "keel_names",
    "keep_shares",
    "load_cifar10",
    "load_cifar100",
    "load_fashion_mnist",
    "load_images",
    "load_keel",
    "load_mnist",
    "load_multiclass",
    "load_page_blocks",
    "load_tiny_imagenet",
    "long_tailed",
    "multiclass_names",
    "read_chunks",
    "read_frame",
    "read_table",
    "separable_pair",
    "sparse_text",
    "step_imbalanced",
    "subset",
]
