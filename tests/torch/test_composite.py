"""Adjusted logits and the composite loss against plain loops."""

import math

import numpy as np
import pytest
import torch
from torch_cases import COUNTS

from immax.losses import LossSpec
from immax.torch.call import Call
from immax.torch.composite import adjusted_logits, composite_loss
from immax.torch.table import Table

C = COUNTS.size


@pytest.fixture
def spec():
    rng = np.random.default_rng(0)
    return LossSpec(
        rng.uniform(0.5, 2, C),
        scale=rng.uniform(0.5, 2, C),
        offset=rng.standard_normal(C),
        target_offset=rng.uniform(0, 1, C),
        weight=rng.uniform(0.5, 2, C),
        droppable=[False, True, False, True, True],
        drop_rate=0.5,
        focus=0.7,
    )


def adjusted_by_loops(spec, h, y, dropped):
    z = []
    for j in range(C):
        if dropped and spec.droppable[j] and j != y:
            z.append(-math.inf)
            continue
        own = spec.target_offset[y] if j == y else 0.0
        z.append(h[j] * spec.scale[j] / spec.temperature[y] + spec.offset[j] - own)
    return z


def test_against_loops(spec, batch):
    logits, target = batch
    table = Table.of(spec, dtype=torch.float64)
    drop = torch.arange(len(target)) % 2 == 0
    call = Call(target, target, table, drop, reduction="none")
    rows = zip(logits.tolist(), target.tolist(), drop.tolist(), strict=True)
    z = [adjusted_by_loops(spec, h, y, d) for h, y, d in rows]
    np.testing.assert_allclose(adjusted_logits(logits, call).numpy(), z, rtol=1e-13)
    losses = []
    for zi, y in zip(z, target.tolist(), strict=True):
        p = math.exp(zi[y]) / sum(math.exp(one) for one in zi)
        losses.append(spec.weight[y] * (1 - p) ** spec.focus * -math.log(p))
    np.testing.assert_allclose(composite_loss(logits, call).numpy(), losses, rtol=1e-9)


def test_maps_are_adjusted_as_their_pixels_are(spec, batch):
    logits, target = batch
    table = Table.of(spec, dtype=torch.float64)
    drop = torch.arange(len(target)) % 2 == 0
    rows = adjusted_logits(logits, Call(target, target, table, drop))
    maps = logits.view(3, 2, 2, C).movedim(-1, 1)
    call = Call(target.view(3, 2, 2), target.view(3, 2, 2), table, drop.view(3, 2, 2))
    found = adjusted_logits(maps, call).movedim(1, -1).reshape(-1, C)
    assert torch.equal(found, rows)
