"""Class counts and hyper-parameters that the PyTorch tests share."""

import numpy as np
import pytest
import torch
from sklearn.utils.fixes import parse_version

from immax.losses import catalog
from immax.torch.requirements import TESTED

COUNTS = np.array([700.0, 200.0, 60.0, 25.0, 15.0])
PARAMS = {
    "immax": {"total": 5.0},
    "equal": {"p": 0.5, "threshold": 0.05},
    "la": {"tau": 0.7},
    "cb": {"gamma": 0.99},
    "focal": {"gamma": 1.5},
    "ldam": {"C": 2.0},
    "vs": {"gamma": 0.3, "tau": 0.8},
    "weighted_immax": {"margin_power": -0.2, "weight_power": 0.6},
}
needs_exporter = pytest.mark.xfail(
    parse_version(torch.__version__) < parse_version(TESTED),
    reason="torch.export of earlier releases",
    strict=False,
)


def make(method, counts=COUNTS):
    return catalog.make_spec(method, counts, **PARAMS.get(method, {}))
