"""Choices on samples that a network was trained on are refused or warned of."""

import warnings

import numpy as np
import pytest
import torch
from head_cases import samples
from torch import nn

from immax.torch import IMMAXHead
from immax.torch.selection_checks import check_selection, chooses


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("immax", {}, True),
        ("immax", {"lam": 0.1}, True),
        ("immax", {"margins": "theory"}, True),
        ("immax", {"lam": 0.1, "margins": "theory"}, False),
        ("immax", {"lam": 0.1, "margins": np.ones(3)}, False),
        ("immax", {"lam": 0.1, "method_params": {"rho": 1.0}}, False),
        ("ldam", {}, True),
        ("ldam", {"lam": 0.1}, False),
        ("ldam", {"lam": 0.1, "method_params": None}, False),
        ("ldam", {"lam": 0.1, "method_params": {"C": [0.3]}}, False),
        ("ldam", {"lam": 0.1, "method_params": {"C": [0.1, 0.5]}}, True),
        ("tau_norm", {}, True),
        ("tau_norm", {"tau": 0.0}, False),
        ("crt", {}, False),
        ("logit_adjustment", {"tau": 0.5}, False),
    ],
)
def test_what_is_a_choice(method, options, expected):
    assert chooses(method, options) is expected


LAYER = nn.Linear(2, 2, bias=False)
LAYER.weight.data = torch.eye(2)


def rows(n, errors):
    """Return samples of which the layer gets some wrong."""
    y = np.arange(n) % 2
    X = np.eye(2, dtype=np.float32)[y]
    y[:errors] = 1 - y[:errors]
    return X, y


@pytest.mark.parametrize(("errors", "refused"), [(0, True), (2, True), (4, False), (20, False)])
def test_samples_of_the_loader(errors, refused):
    with pytest.raises(ValueError if refused else UserWarning, match="cannot be chosen"):
        check_selection(LAYER, rows(400, errors), None, declared=False)
    check_selection(LAYER, rows(400, errors), None, declared=True)


def test_samples_that_the_network_does_not_fit():
    check_selection(LAYER, rows(400, 21), None, declared=False)
    check_selection(LAYER, rows(400, 0), rows(400, 21), declared=True)


@pytest.mark.parametrize(
    ("of_fit", "of_selection"), [(0, 0), (0, 2), (12, 12), (12, 6), (12, 20), (60, 12)]
)
def test_a_selection_that_looks_like_training_samples(of_fit, of_selection):
    with pytest.warns(UserWarning, match=r"of selection, and .* cannot be chosen"):
        check_selection(LAYER, rows(400, of_fit), rows(400, of_selection), declared=True)


@pytest.mark.parametrize(("of_fit", "of_selection"), [(0, 6), (2, 12), (60, 100)])
def test_a_selection_on_which_the_network_is_clearly_worse(of_fit, of_selection):
    check_selection(LAYER, rows(400, of_fit), rows(400, of_selection), declared=True)


@pytest.mark.parametrize("method", ["immax", "ldam"])
def test_separable_features(method):
    X, y = samples(150)
    fitted = np.c_[X, 3 * np.eye(3)[y]].astype(np.float32)  # as a network makes them
    with pytest.warns(UserWarning, match=r"smallest of the values of λ .* selection='folds'"):
        IMMAXHead.fit(fitted, y, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IMMAXHead.fit(fitted, y, method=method, selection="folds")
        IMMAXHead.fit(fitted, y, method=method, selection=(fitted, y))
        IMMAXHead.fit(fitted, y, method=method, lams=[0.1])
        IMMAXHead.fit(X, y, method=method)
