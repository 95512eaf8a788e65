"""Summaries of streams, against the median of all numbers."""

import numpy as np
import pytest

from immax.tabular.quantile_sketch import QuantileSketch


def summary(values, capacity, batch=97):
    sketch = QuantileSketch(capacity)
    for begin in range(0, len(values), batch):
        sketch.add(values[begin : begin + batch])
    return sketch


@pytest.mark.parametrize("n", [1, 2, 7, 499, 500])
def test_few_numbers_are_exact(n):
    values = np.random.default_rng(n).normal(size=n)
    assert summary(values, 500).median() == np.median(values)


def test_no_numbers():
    sketch = QuantileSketch(10)
    sketch.add(np.empty(0))
    assert np.isnan(sketch.median())
    assert (sketch + summary(np.arange(3.0), 10)).median() == 1


ORDERS = {
    "random": lambda n: np.random.default_rng(0).exponential(size=n),
    "rising": np.arange,
    "falling": lambda n: np.arange(n)[::-1],
    "two ends in turn": lambda n: np.where(np.arange(n) % 2, np.arange(n), -np.arange(n)),
    "mostly ties": lambda n: np.random.default_rng(0).binomial(3, 0.5, n),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("joined", [False, True], ids=["one stream", "sums of summaries"])
def test_the_rank_of_the_median(order, joined):
    n, capacity = 200_000, 500
    values = ORDERS[order](n).astype(float)
    if joined:
        parts = [summary(own, capacity) for own in np.array_split(values, 7)]
        sketch = sum(parts, start=QuantileSketch(capacity))
    else:
        sketch = summary(values, capacity)
    levels = len(sketch._levels)
    assert levels <= 1 + np.ceil(np.log2(n / capacity)) + 1
    assert sum(len(own) for level in sketch._levels for own in level) <= levels * capacity
    below, up_to = (values < sketch.median()).mean(), (values <= sketch.median()).mean()
    slack = levels / capacity
    assert below - slack <= 0.5 <= up_to + slack


def test_every_number_is_counted():
    values = np.random.default_rng(1).normal(size=12_345)
    sketch = summary(values, 100)
    counted = sum(2**height * sum(map(len, level)) for height, level in enumerate(sketch._levels))
    assert counted == len(values)
