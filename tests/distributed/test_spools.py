"""Parts from a temporary file."""

import numpy as np

from immax.distributed.raw_parts import read_part
from immax.distributed.spools import Spool


def test_parts_are_computed_once(tmp_path):
    calls = []

    def parts():
        calls.append(1)
        for number in range(3):
            X = np.asfortranarray(np.random.default_rng(number).normal(size=(number * 40, 3)))
            yield read_part(
                number,
                X,
                np.array(["no", "yes"], dtype=object)[np.arange(number * 40) % 2],
                np.ones(number * 40),
            )

    spool = Spool(parts, tmp_path)
    next(spool.read())  # a pass that is not finished counts for nothing
    first, second, third = list(spool.read()), list(spool.read()), list(spool.read())
    assert len(calls) == 2
    for a, b, c in zip(first, second, third, strict=True):
        assert a.number == b.number
        np.testing.assert_array_equal(a.X, b.X)
        np.testing.assert_array_equal(a.X, c.X)
        assert a.y.tolist() == b.y.tolist()
    spool.close()
    list(spool.read())
    assert len(calls) == 3
    spool.close()
