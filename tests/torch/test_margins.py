"""Margins of the losses from class counts."""

import numpy as np
import pytest
import torch
from torch_cases import COUNTS

import immax.torch as it
from immax.margins import theory_margins
from immax.torch.margins import count_margins

C = COUNTS.size


def test_immax_margins():
    expected = theory_margins(COUNTS, total=C)
    np.testing.assert_allclose(it.IMMAXLoss(COUNTS).rho.numpy(), expected, rtol=1e-6)
    paper = it.IMMAXLoss(COUNTS, total=1).rho
    np.testing.assert_allclose(paper.numpy(), theory_margins(COUNTS, total=1), rtol=1e-6)
    assert it.IMMAXLoss(COUNTS, power=0).rho.tolist() == [1.0] * C
    assert it.IMMAXLoss(rho=[1.0, 2.0]).rho.tolist() == [1.0, 2.0]
    shared = it.IMMAXLoss(COUNTS, groups=3).rho
    assert len(set(shared.tolist())) == 3
    assert shared[2] == shared[4]
    by_hand = it.IMMAXLoss([100, 20, 60], groups=[0, 1, 1]).rho
    assert by_hand[1] == by_hand[2]
    assert by_hand[0] / by_hand[1] == pytest.approx((100 / 40) ** (1 / 3), rel=1e-6)


def test_the_mean_is_one_unless_a_total_is_given():
    for total in (None, "mean"):
        assert count_margins(COUNTS, total=total).mean() == pytest.approx(1)
    assert count_margins(COUNTS, total=1).sum() == pytest.approx(1)
    assert count_margins(None, rho=torch.tensor([3.0, 1.0])).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": None}, "counts, labels, dataset and rho"),
        ({"counts": [5.0, -1.0]}, "counts"),
        ({"counts": None, "rho": [1.0, 0.0]}, "rho"),
        ({"counts": COUNTS, "total": "sum"}, "total must be"),
        ({"counts": COUNTS, "total": 0.0}, "total must be"),
        ({"counts": COUNTS, "total": np.inf}, "total must be"),
        ({"counts": COUNTS, "power": np.nan}, "power must be"),
        ({"counts": COUNTS, "groups": [0, 1]}, r"groups must .* shape \(5,\)"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        count_margins(**arguments)


def test_radii():
    radii = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    expected = theory_margins(COUNTS, radii)
    np.testing.assert_allclose(count_margins(COUNTS, radii=radii), expected, rtol=1e-12)
    np.testing.assert_allclose(it.IMMAXLoss(COUNTS, radii=radii).rho, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="radii must have an entry"):
        count_margins(COUNTS, radii=[1.0])
    with pytest.raises(ValueError, match="radii of class 1 is 0"):
        count_margins([2, 1], radii=[1.0, 0.0])
