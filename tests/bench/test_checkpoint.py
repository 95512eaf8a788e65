"""Checkpoints that are damaged, or cannot be written."""

import pytest
import torch

from immax.bench.checkpoint import load_checkpoint, save_checkpoint
from immax.bench.networks import make_network


def test_a_damaged_checkpoint_counts_as_none(tmp_path):
    network = make_network("mlp", (1, 2, 2), 2)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    path = tmp_path / "state.safetensors"
    assert load_checkpoint(path, network, optimiser) is None
    save_checkpoint(path, network.state_dict(), optimiser.state_dict(), {"epoch": 3})
    assert load_checkpoint(path, network, optimiser)["epoch"] == 3
    path.write_bytes(path.read_bytes()[:100])
    assert load_checkpoint(path, network, optimiser) is None
    path.write_bytes(b"")
    assert load_checkpoint(path, network, optimiser) is None


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    network = make_network("mlp", (1, 2, 2), 2)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    path = tmp_path / "state.safetensors"
    save_checkpoint(path, network.state_dict(), optimiser.state_dict(), {"epoch": 3})

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("immax.bench.checkpoint.save_file", full)
    with pytest.raises(OSError, match="No space"):
        save_checkpoint(path, network.state_dict(), optimiser.state_dict(), {"epoch": 4})
    assert load_checkpoint(path, network, optimiser)["epoch"] == 3
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
