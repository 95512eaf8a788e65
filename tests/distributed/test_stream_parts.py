"""Parts that are read again in every round."""

import threading

import numpy as np
import pytest

from immax.distributed.raw_parts import Encoding, read_part
from immax.distributed.stream_parts import ReadMeter, StreamParts, read_ahead


def parts():
    for number in range(3):
        yield read_part(number, np.ones((number + 1, 2)), np.arange(number + 1) % 2)


def test_every_round_is_a_pass():
    seen = []
    meter = ReadMeter(lambda meter: seen.append((meter.passes, meter.n_bytes)))
    stream = StreamParts(parts, meter=meter)
    assert stream.reduce(lambda part, factor: factor * len(part.y), 2) == 12
    firsts = {0: (0, 0), 1: (1, 1), 2: (3, 3)}
    encoded = stream.encoded(Encoding(np.array([0, 1]), firsts, np.dtype(float)))
    assert encoded.reduce(lambda part: part.places.tolist()) == list(range(6))
    assert stream.n_rounds == encoded.n_rounds == 1
    assert seen[:5] == [(1, 0), (1, 16), (1, 48), (1, 96), (2, 96)]
    assert str(meter) == "pass 2, 0 MiB read"
    with pytest.raises(ValueError, match="there are no rows"):
        StreamParts(lambda: iter(())).reduce(len)


def test_reading_ahead():
    threads = set()

    def source():
        for number in range(4):
            threads.add(threading.current_thread())
            yield number
        raise OSError("the end")

    elements = read_ahead(source())
    assert [next(elements) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(OSError, match="the end"):
        next(elements)
    assert threading.main_thread() not in threads
