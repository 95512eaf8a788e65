"""Features are what a layer gets, and the network is left as it was."""

import gc
from pathlib import Path

import numpy as np
import pytest
import torch
from head_cases import loader, network, samples
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, WeightedRandomSampler

from immax.torch import collect_features, features

X, Y = samples()


def expected(model):
    with torch.no_grad():
        return torch.relu(model[0](torch.tensor(X))).numpy()


def test_features_are_the_inputs_of_the_last_layer():
    model = network()
    found, labels = collect_features(model, loader(X, Y))
    np.testing.assert_allclose(found, expected(model), atol=1e-6)  # without dropout
    np.testing.assert_array_equal(labels, Y)
    assert (found.dtype, labels.dtype) == (np.float32, np.int64)


def test_a_layer_by_name():
    found, _ = collect_features(network(), loader(X, Y), "0")
    np.testing.assert_array_equal(found, X)


def test_the_network_is_left_as_it_was():
    model = network().train()
    model[1].eval()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    collect_features(model, loader(X, Y))
    assert [module.training for module in model] == [True, False, True, True]
    assert model.training
    assert all(not module._forward_pre_hooks for module in model.modules())
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_double_and_half_precision_become_single():
    model = network().double()
    found, _ = collect_features(model, loader(X.astype(float), Y))
    assert found.dtype == np.float32
    model = network().bfloat16()
    found, _ = collect_features(model, loader(torch.tensor(X).bfloat16(), Y))
    assert found.dtype == np.float32


def test_batches_of_names():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, pixels):
            return self.layer(input=pixels)

    batches = [{"pixels": torch.tensor(X[:9]), "label": torch.tensor(Y[:9])}]
    found, labels = collect_features(Named(), batches)
    np.testing.assert_array_equal(found, X[:9])
    np.testing.assert_array_equal(labels, Y[:9])


def test_large_features_are_in_a_file_that_is_deleted_with_them():
    model = network()
    found, _ = collect_features(model, loader(X, Y), max_bytes=1000)
    assert isinstance(found, np.memmap)
    np.testing.assert_allclose(found, expected(model), atol=1e-6)
    path = Path(found.filename)
    assert path.exists()
    del found
    gc.collect()
    assert not path.exists()


def test_a_file_of_ones_own(tmp_path):
    model = network()
    found, _ = collect_features(model, loader(X, Y), file=tmp_path / "features")
    np.testing.assert_allclose(found, expected(model), atol=1e-6)
    assert (tmp_path / "features").stat().st_size == found.size * 4


def test_a_file_is_deleted_if_the_network_fails(tmp_path):
    with pytest.raises(RuntimeError):
        collect_features(network(d=5), loader(X, Y), file=tmp_path / "features")
    assert not list(tmp_path.iterdir())


def test_loaders_that_cannot_be_counted():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(zip(torch.tensor(X), torch.tensor(Y), strict=True))

    found, labels = collect_features(network(), DataLoader(Stream(), batch_size=50))
    assert found.shape == (240, 6)
    np.testing.assert_array_equal(labels, Y)


def test_samplers_that_repeat_samples_are_refused():
    draws = WeightedRandomSampler(np.ones(len(Y)).tolist(), len(Y))
    with pytest.raises(TypeError, match="draws by WeightedRandomSampler"):
        collect_features(network(), loader(X, Y, sampler=draws))


def test_layers_without_one_vector_per_sample():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            return self.layer(self.layer(x))

    with pytest.raises(ValueError, match=r"'layer' must be called once .* called 2 times"):
        collect_features(Twice(), loader(X, Y))
    tokens = torch.zeros(8, 5, 4)
    with pytest.raises(ValueError, match=r"one vector for each of the 8 samples.* \(8, 5, 6\)"):
        collect_features(network(), loader(tokens, torch.zeros(8, dtype=torch.int64)))
    with pytest.raises(ValueError, match="loader is empty"):
        collect_features(network(), [])


def test_progress_on_a_terminal_only(monkeypatch, capsys):
    collect_features(network(), loader(X, Y))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(features.sys.stderr, "isatty", lambda: True, raising=False)
    collect_features(network(), loader(X, Y))
    assert "batch 5 of 5" in capsys.readouterr().err
