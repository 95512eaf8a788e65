"""Tables of tensors from specs."""

import numpy as np
import torch
from torch_cases import COUNTS, make

from immax.losses import LossSpec
from immax.torch.table import COLUMNS, Table, spec_columns


def test_columns_that_change_nothing_are_none(spec):
    columns = spec_columns(spec, dtype=torch.float64)
    assert tuple(columns) == COLUMNS
    neutral = LossSpec(np.ones(COUNTS.size))
    for name, column in columns.items():
        values = getattr(spec, name)
        if column is None:
            assert np.array_equal(values, getattr(neutral, name)) or not spec.random
        else:
            np.testing.assert_array_equal(column.numpy(), values)


def test_a_table_has_the_specs_numbers(spec):
    table = Table.of(spec, dtype=torch.float64)
    assert (table.focus, table.drop_rate) == (spec.focus, spec.drop_rate)
    assert table.drops_or_focuses == (spec.focus > 0 or spec.random)
    assert not table.requires_grad()
    assert table.to(torch.float64) is table


def test_every_column_is_converted():
    table = Table(temperature=torch.ones(2), offset=torch.ones(2).double(), droppable=torch.ones(2))
    for dtype in (torch.float32, torch.float64):
        converted = table.to(dtype)
        assert converted.temperature.dtype == converted.offset.dtype == dtype
        assert converted.droppable is table.droppable


def test_a_learnt_column_requires_a_gradient():
    assert Table(scale=torch.ones(2, requires_grad=True)).requires_grad()


def test_draws():
    target = torch.zeros(4000, dtype=torch.long)
    assert Table.of(make("ce")).draw(target) is None
    table = Table.of(make("equal"))
    draws = [table.draw(target, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert abs(draws[0].float().mean().item() - table.drop_rate) < 0.05
