"""Sums over parts."""

from typing import NamedTuple

import numpy as np

from immax.distributed.reduction import add_all


class Pair(NamedTuple):
    a: float
    b: list


def test_sums_keep_their_structure():
    found = add_all([Pair(1.0, [1]), Pair(2.0, []), Pair(3.0, [2])])
    assert found == Pair(6.0, [1, 2])
    first, (second, third) = add_all([(np.ones(2), (1, 0.0)), (np.ones(2), (2, 0.0))])
    assert first.tolist() == [2, 2]
    assert (second, third) == (3, 0.0)
    assert add_all(["ab"]) == "ab"
