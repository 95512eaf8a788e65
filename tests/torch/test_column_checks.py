"""Checks of margins and tables."""

import gc

import pytest
import torch

from immax.torch import column_checks
from immax.torch.column_checks import check_margins, check_table, known_to_be_valid
from immax.torch.table import COLUMNS, Table

LOGITS = torch.zeros(4, 3)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_margins_of_one_are_known(dtype):
    rho = torch.ones(3, dtype=dtype)
    assert check_margins(rho, LOGITS)
    assert not check_margins(rho.requires_grad_(), LOGITS)  # they may change in training
    assert not check_margins(torch.tensor([1, 2, 1], dtype=dtype), LOGITS)
    with pytest.raises(ValueError, match=r"rho\[1\] is -2.0; it must be a positive, finite number"):
        check_margins(torch.tensor([1, -2, 1], dtype=dtype), LOGITS)


def test_any_number_of_columns_is_remembered_as_long_as_they_live():
    gc.collect()
    before = len(column_checks._checked)
    columns = [torch.tensor([1.0, 2.0, 3.0 + k]) for k in range(200)]
    for rho in columns:
        check_margins(rho, LOGITS)
    assert all(known_to_be_valid(rho, 3) for rho in columns)
    del columns, rho
    gc.collect()
    assert len(column_checks._checked) == before


def test_a_new_column_in_the_place_of_an_old_one_is_checked():
    for value in (2.0, -2.0, 3.0, -3.0) * 20:
        rho = torch.tensor([value, 1.0, 1.0])
        if value > 0:
            check_margins(rho, LOGITS)
        else:
            assert not known_to_be_valid(rho, 3)
            with pytest.raises(ValueError, match="must be a positive"):
                check_margins(rho, LOGITS)


def test_every_way_to_edit_a_tensor_is_noticed():
    rho = torch.ones(3)
    edits = [
        lambda: rho.__setitem__(0, 2.0),
        lambda: rho.data.__setitem__(0, 2.0),
        lambda: rho.numpy().__setitem__(0, 2.0),
        lambda: rho.copy_(torch.tensor([2.0, 1, 1])),
        lambda: rho[:1].mul_(2),
    ]
    for edit in edits:
        rho.fill_(1)
        assert check_margins(rho, LOGITS)
        edit()
        assert not check_margins(rho, LOGITS)


@pytest.mark.parametrize("column", COLUMNS[:5])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_the_column_and_the_class_are_named(column, value):
    values = torch.ones(3)
    values[2] = value
    table = Table(**{column: values})
    if column in ("offset", "target_offset") and value == -1:
        assert not check_table(table, LOGITS)
        return
    with pytest.raises(ValueError, match=rf"{column}\[2\] is {value}; it must be "):
        check_table(table, LOGITS)


def test_zeros():
    zeros = torch.zeros(3)
    for column in ("offset", "target_offset", "weight"):
        check_table(Table(**{column: zeros}), LOGITS)
    for column in ("temperature", "scale"):
        with pytest.raises(ValueError, match=rf"{column}\[0\] is 0.0"):
            check_table(Table(**{column: zeros}), LOGITS)


@pytest.mark.parametrize("column", COLUMNS)
def test_shapes_types_and_devices_of_every_column(column):
    kind = torch.bool if column == "droppable" else torch.float32
    wrong = torch.int64
    with pytest.raises(ValueError, match=rf"{column} must have shape \(3,\)"):
        check_table(Table(**{column: torch.ones(2, dtype=kind)}), LOGITS)
    with pytest.raises(ValueError, match=rf"{column} must be on the logits' device"):
        check_table(Table(**{column: torch.ones(3, dtype=kind, device="meta")}), LOGITS)
    with pytest.raises(TypeError, match=rf"{column} must be .*; got torch.int64"):
        check_table(Table(**{column: torch.ones(3, dtype=wrong)}), LOGITS)


def test_only_margins_of_one_alone_make_cross_entropy():
    ones = torch.ones(3)
    assert check_table(Table(temperature=ones), LOGITS)
    assert not check_table(Table(), LOGITS)
    assert not check_table(Table(scale=ones), LOGITS)
    assert not check_table(Table(temperature=ones, scale=ones), LOGITS)
    assert not check_table(Table(temperature=ones, focus=1.0), LOGITS)
    assert not check_table(Table(temperature=ones, droppable=ones.bool()), LOGITS)
    meta = Table(temperature=ones.to("meta"))
    assert not check_table(meta, LOGITS.to("meta"))  # values are not read from a device
