"""The modules of the catalogue's methods."""

import inspect

import pytest
import torch
from torch_cases import COUNTS, PARAMS, make

import immax.torch as it
from immax.losses import catalog
from immax.margins import theory_margins
from immax.torch.functional import spec_loss
from immax.torch.losses import MODULES

BY_CATALOGUE = [method for method in MODULES if method != "immax"]


def test_there_is_a_public_module_for_every_method():
    assert list(MODULES) == list(catalog.METHODS)
    for module in MODULES.values():
        assert getattr(it, module.__name__) is module
        assert module.__name__ in it.__all__


@pytest.mark.parametrize("method", catalog.METHODS)
def test_hyper_parameters_and_defaults_are_the_catalogues(method):
    own = inspect.signature(catalog.METHODS[method].make).parameters
    module = inspect.signature(MODULES[method]).parameters
    for name, parameter in own.items():
        if name in ("counts", "total"):  # of the margins, which have mean one: tested below
            assert name in module
        else:
            assert module[name].default == parameter.default


def test_a_module_without_hyper_parameters_has_the_catalogues_spec():
    for method in BY_CATALOGUE:
        assert MODULES[method](COUNTS).spec == catalog.METHODS[method].make(COUNTS)
    expected = torch.tensor(theory_margins(COUNTS, total=COUNTS.size))
    torch.testing.assert_close(it.IMMAXLoss(COUNTS, dtype=torch.float64).rho, expected)


@pytest.mark.parametrize("method", BY_CATALOGUE)
def test_modules_are_the_catalogue(method, batch):
    logits, target = batch
    params = {"normalize": None} if method == "rw" else PARAMS.get(method, {})
    module = MODULES[method](COUNTS, **params, dtype=torch.float64)
    torch.manual_seed(0)
    found = module(logits, target)
    torch.manual_seed(0)
    assert found.item() == pytest.approx(spec_loss(logits, target, make(method)).item(), rel=1e-13)
    assert method in repr(module)
    with pytest.raises(ValueError, match="logits have 3 classes, the loss has 5"):
        module(logits[:, :3], target.clamp_max(2))


def test_hyper_parameters_by_position_and_by_name():
    assert it.LDAMLoss(COUNTS, 2.0).spec == it.LDAMLoss(COUNTS, C=2.0).spec
    assert it.VectorScalingLoss(COUNTS, 0.3, 0.8).spec == make("vs")
    with pytest.raises(TypeError, match="unexpected keyword argument 'tau'"):
        it.LDAMLoss(COUNTS, tau=1.0)
    with pytest.raises(ValueError, match="C must be"):
        it.LDAMLoss(COUNTS, C=-1.0)
